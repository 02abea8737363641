import codecs, io, locale, os, sys, unicodedata
text = "naïve café — ½ 日本 🐍\n"
for encoding in ("utf-8", "utf-16", "utf-8-sig", "latin-1", "cp1252", "shift_jis", "ascii"):
    try:
        with open("text.txt", "w", encoding=encoding) as file: file.write(text)
        print(encoding, os.path.getsize("text.txt"), open("text.txt", encoding=encoding).read() == text)
    except UnicodeEncodeError as error:
        print(encoding, error.start, error.reason)
print(open("main.py").encoding, sys.getdefaultencoding(), sys.getfilesystemencoding(), sys.getfilesystemencodeerrors(), locale.getpreferredencoding(False), io.text_encoding(None))
open("büro 🐍.txt", "w").close(); open(b"raw\xff.txt", "wb").close()
print(sorted(os.listdir(".")).index("büro 🐍.txt") >= 0, [name for name in os.listdir(b".") if b"raw" in name], ascii([name for name in os.listdir() if "raw" in name]))
print(unicodedata.normalize("NFD", "é").encode("unicode_escape"), unicodedata.name("½"), "ß".upper(), "İ".lower().encode(), text.encode("ascii", "xmlcharrefreplace"), text.encode("ascii", "namereplace")[:20])
decoder = codecs.getincrementaldecoder("utf-8")(); print([decoder.decode(bytes([one])) for one in "é🐍".encode()])
print(codecs.lookup("u8").name, codecs.encode("hello", "rot13"), codecs.decode("68656c6c6f", "hex"), text.center(40, "·"))
print(b"\xff\xfe broken".decode("utf-8", "replace"), b"\xff".decode("utf-8", "surrogateescape").encode("utf-8", "surrogateescape"))
sys.stdout.write("日本\n"); sys.stdout.flush(); sys.stdout.buffer.write("直接\n".encode()); sys.stderr.write("エラー\n")
b"caf\xe9".decode()
