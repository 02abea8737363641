import sys, locale
print(sys.getdefaultencoding(), sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())
print(locale.getpreferredencoding(), sys.flags.utf8_mode, open("x.txt", "w").encoding)
for codec in ("utf-16", "cp1252", "shift_jis", "idna", "punycode", "rot13"):
    import codecs
    print(codec, codecs.encode("abc" if codec == "rot13" else "aé" if codec != "shift_jis" else "日", codec))
