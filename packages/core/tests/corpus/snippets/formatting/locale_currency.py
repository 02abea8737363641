import locale
print(locale.setlocale(locale.LC_ALL, "C"))
print(locale.getpreferredencoding(False), locale.format_string("%d", 1234567, grouping=True))
try:
    locale.setlocale(locale.LC_ALL, "xx_XX")
except locale.Error as error:
    print("Error:", error)
print(locale.localeconv()["decimal_point"], locale.strxfrm("a"))
