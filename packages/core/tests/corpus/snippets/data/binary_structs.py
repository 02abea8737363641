import ctypes, struct
class Header(ctypes.LittleEndianStructure):
    _pack_ = 1
    _fields_ = [("magic", ctypes.c_char * 4), ("size", ctypes.c_uint32), ("flag", ctypes.c_uint8, 3)]
header = Header(b"PNG\0", 1234, 5)
print(bytes(header), ctypes.sizeof(Header), Header.from_buffer_copy(bytes(header)).size)
print(struct.calcsize("@lqP"), [value for value in struct.iter_unpack("<H", b"\1\0\2\0")])
try:
    struct.unpack("<I", b"abc")
except struct.error as error:
    print(error)
