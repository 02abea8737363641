import os
open("f", "w").close()
try:
    os.setxattr("f", "user.note", b"value"); print(os.getxattr("f", "user.note"), os.listxattr("f"))
except OSError as error:
    print(error)
print(os.statvfs(".").f_bsize > 0, os.pathconf(".", "PC_NAME_MAX"), os.sysconf("SC_PAGE_SIZE"))
