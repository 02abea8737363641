print(open("/dev/null").read() == "")
with open("/dev/null", "w") as sink:
    sink.write("gone")
with open("/dev/zero", "rb") as zero:
    print(zero.read(4))
with open("/dev/urandom", "rb") as source:
    print(len(source.read(16)))
try:
    with open("/dev/full", "w") as full:
        full.write("x")
except OSError as error:
    print(error)
