with open("/dev/stdout", "w") as out:
    out.write("through the device\n")
with open("/dev/stderr", "w") as err:
    err.write("errors too\n")
print("end")
