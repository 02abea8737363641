import unicodedata
größe, π = 3, 3.14
print(größe * π, unicodedata.name("π"), unicodedata.normalize("NFKD", "ﬁ"), "ß".upper(), "İ".lower().encode())
print("\u202eabc".encode("unicode_escape"), "a\u0301" == "á", len("👩‍👩‍👧"), "١٢".isdigit(), int("١٢"), "Straße".casefold())
print("{:>10}|{:^10}|".format("日本", "é"), ascii("日本"), "\N{SNOWMAN}", "tab\tx".expandtabs(4))
