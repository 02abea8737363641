import os
os.makedirs("a/b"); folder = os.open("a", os.O_RDONLY)
fd = os.open("b/x", os.O_CREAT | os.O_RDWR, dir_fd=folder); os.write(fd, b"1234"); os.close(fd)
print(folder, os.listdir(folder), os.stat("b/x", dir_fd=folder).st_size, os.path.exists("a/b/x"))
os.rename("b/x", "y", src_dir_fd=folder, dst_dir_fd=folder); os.fchdir(folder)
print(sorted(os.listdir(".")), os.path.basename(os.getcwd()), os.path.realpath("y").endswith("/a/y"), os.access("y", os.X_OK))
for name, kind, files in os.fwalk("."): pass
print(sorted(files), name)
