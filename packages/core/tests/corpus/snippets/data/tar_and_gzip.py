import gzip, bz2, lzma, tarfile, io, os
with gzip.open("x.gz", "wt") as file:
    file.write("compressed\n")
print(gzip.open("x.gz", "rt").read(), bz2.decompress(bz2.compress(b"b")), lzma.decompress(lzma.compress(b"l")))
os.makedirs("d/e")
open("d/e/f.txt", "w").write("in the tar")
with tarfile.open("t.tar.gz", "w:gz") as tar:
    tar.add("d")
with tarfile.open("t.tar.gz") as tar:
    print(sorted(tar.getnames()), tar.extractfile("d/e/f.txt").read())
    tar.extractall("out")
print(os.path.exists("out/d/e/f.txt"), oct(os.stat("out/d").st_mode & 0o700))
