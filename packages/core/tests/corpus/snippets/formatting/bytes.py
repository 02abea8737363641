data = bytes(range(0, 256, 17))
print(data, data.hex(" "), bytearray(b"abc"), memoryview(b"xyz")[1:].tobytes())
print(b"%d-%s" % (5, b"x"), b"a,b".split(b","), "é".encode().decode("latin-1"))
import struct, binascii, base64
print(struct.pack("<IhB", 1, -2, 3), struct.unpack(">d", struct.pack(">d", 1.5)))
print(base64.b64encode(b"hello"), base64.urlsafe_b64decode("-_8="), binascii.crc32(b"x"))
