import array, marshal, plistlib, zlib
print(plistlib.loads(plistlib.dumps({"a": [1, b"x"], "b": True})))
print(marshal.loads(marshal.dumps((1, "x", {"k": 2.5}))))
numbers = array.array("d", [1.5, 2.5])
print(numbers, numbers.tobytes()[:4], zlib.adler32(b"abc"), numbers.itemsize)
