import io, zipfile, zlib
with zipfile.ZipFile("a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("folder/hello.txt", "hello " * 100)
    archive.writestr(zipfile.ZipInfo("fixed.txt", (2020, 1, 1, 0, 0, 0)), b"x")
with zipfile.ZipFile("a.zip") as archive:
    print(archive.namelist(), archive.testzip(), archive.getinfo("folder/hello.txt").file_size)
    archive.extractall("out")
print(open("out/folder/hello.txt").read()[:11], zlib.decompress(zlib.compress(b"abc")), zipfile.is_zipfile("a.zip"))
try:
    zipfile.ZipFile(io.BytesIO(b"not a zip"))
except zipfile.BadZipFile as error:
    print(error)
