import mmap
anonymous = mmap.mmap(-1, 4096)
anonymous[:5] = b"hello"
print(anonymous[:5], len(anonymous), anonymous.find(b"llo"))
private = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
private.write(b"private"); private.seek(0); print(private.read(7))
with open("file.bin", "wb+") as file:
    file.write(b"\0" * 4096); file.flush()
    with mmap.mmap(file.fileno(), 0) as mapped:
        mapped[10:13] = b"abc"; mapped.flush()
    file.seek(10); print(file.read(3))
