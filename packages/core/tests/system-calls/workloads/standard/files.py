"""Files: open, copy, move, walk, attributes, links, maps, temporary files, archives."""
import fcntl, filecmp, glob, gzip, io, mmap, os, pathlib, shutil, stat, sys, tarfile, tempfile, zipfile

root = pathlib.Path("tree")
for name in ("a/b/c", "d"):
    (root / name).mkdir(parents=True)
(root / "a" / "one.txt").write_text("x" * 100_000)
(root / "link").symlink_to("a/one.txt")
os.link(root / "a/one.txt", root / "hard")
shutil.copy(root / "a/one.txt", root / "two.txt")
shutil.copy2(root / "a/one.txt", root / "three.txt")
shutil.copyfile(os.__file__, root / "library.py")
shutil.copytree(root / "a", root / "e", symlinks=True)
shutil.move(root / "two.txt", root / "moved.txt")
assert filecmp.cmp(root / "a/one.txt", root / "moved.txt", shallow=False)
assert sum(len(files) for _, _, files in os.walk(root)) == 7
assert len(list(os.scandir(root))) == 8 and len(glob.glob("tree/**/*.txt", recursive=True)) == 4
os.chmod(root / "hard", 0o640)
os.utime(root / "hard", (1_000_000_000, 1_000_000_000))
os.rename(root / "hard", root / "renamed")
os.replace(root / "renamed", root / "replaced")
assert stat.S_ISREG(os.stat(root / "replaced").st_mode) and os.access(root, os.R_OK)
assert shutil.disk_usage(".").total > 0 and os.statvfs(".").f_bsize > 0
try:
    os.setxattr(root / "replaced", "user.colour", b"red")
    os.getxattr(root / "replaced", "user.colour")
    os.removexattr(root / "replaced", "user.colour")
except OSError:
    pass  # the file system has none
assert os.listxattr(root / "replaced") == []
with open("sparse", "w+b") as file:
    file.truncate(1 << 20)
    os.posix_fallocate(file.fileno(), 0, 65536)
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
    os.pwrite(file.fileno(), b"here", 4096)
    assert os.pread(file.fileno(), 4, 4096) == b"here"
    os.preadv(file.fileno(), [bytearray(4)], 0)
    os.pwritev(file.fileno(), [b"ab", b"cd"], 0)
    os.writev(file.fileno(), [b"ef"])
    os.readv(file.fileno(), [bytearray(2)])
    os.lseek(file.fileno(), 0, os.SEEK_DATA)
    os.fsync(file.fileno()), os.fdatasync(file.fileno()), os.sync()
    fcntl.lockf(file, fcntl.LOCK_EX)
    fcntl.lockf(file, fcntl.LOCK_UN)
    copy = os.dup(file.fileno())
    os.dup2(copy, 60), os.close(60), os.close(copy)
    with mmap.mmap(file.fileno(), 1 << 20) as view:
        view[:4] = b"maps"
        view.flush()
        view.madvise(mmap.MADV_SEQUENTIAL)
        assert view.find(b"here") == 4096
try:
    with open("sparse", "rb") as source, open("range", "wb") as target:
        os.copy_file_range(source.fileno(), target.fileno(), 4096)
except OSError:
    pass  # not on every file system
with mmap.mmap(-1, 8192, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as view:
    view.write(b"x")
    view.resize(1 << 20)
os.mkfifo("fifo")
for make in (tempfile.TemporaryFile, tempfile.NamedTemporaryFile, tempfile.SpooledTemporaryFile):
    with make() as file:
        file.write(b"x")
with tempfile.TemporaryDirectory() as folder:
    shutil.make_archive(f"{folder}/all", "gztar", "tree")
    shutil.make_archive(f"{folder}/all", "zip", "tree")
    shutil.unpack_archive(f"{folder}/all.tar.gz", f"{folder}/unpacked")
    shutil.unpack_archive(f"{folder}/all.zip", f"{folder}/unzipped")
os.umask(os.umask(0o022))
os.chdir("tree"), os.chdir(".."), os.getcwd()
fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
os.fchdir(fd), os.stat("tree", dir_fd=fd), os.close(fd)
os.truncate("sparse", 10)
os.remove("sparse"), os.unlink("fifo"), os.rmdir("tree/d")
shutil.rmtree("tree")
print("ok")
