import os, stat
open("secret.txt", "w").write("x")
os.chmod("secret.txt", 0o400)
print(oct(stat.S_IMODE(os.stat("secret.txt").st_mode)), os.access("secret.txt", os.W_OK))
try:
    open("secret.txt", "w")
except PermissionError as error:
    print(error)
os.chmod("secret.txt", 0)
try:
    open("secret.txt")
except PermissionError as error:
    print(error)
