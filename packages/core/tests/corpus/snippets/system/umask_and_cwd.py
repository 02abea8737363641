import os
print(oct(os.umask(0o077)))
os.mkdir("private"); os.chdir("private")
print(os.path.basename(os.getcwd()), oct(os.stat(".").st_mode & 0o777), os.path.relpath("..", "/") == os.path.relpath(os.path.dirname(os.getcwd()), "/"))
