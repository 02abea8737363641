import os
open("target", "w").write("hello")
os.symlink("target", "link")
os.link("target", "hard")
print(os.readlink("link"), os.path.islink("link"), os.stat("hard").st_nlink, os.path.samefile("link", "target"))
os.remove("target")
print(os.path.exists("link"), os.path.lexists("link"), open("hard").read())
