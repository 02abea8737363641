import ctypes, ctypes.util
libc = ctypes.CDLL(None)
print(libc.abs(-5), libc.strlen(b"four"), libc.getpid() == __import__("os").getpid(), ctypes.util.find_library("c"))
compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))(lambda a, b: a[0] - b[0])
values = (ctypes.c_int * 4)(3, 1, 2, 0)
libc.qsort(values, 4, ctypes.sizeof(ctypes.c_int), compare)
print(list(values), ctypes.create_string_buffer(b"x", 3).raw, ctypes.c_int(2 ** 31).value)
__import__("sys").stdout.flush()
libc.printf(b"from C %d\n", ctypes.c_int(7)); libc.fflush(None)
