import unicodedata
print("Größe: 5 µm, 日本語, العربية, 👩‍👩‍👧, e\u0301")
print(len("👩‍👩‍👧"), "straße".upper(), "İ".lower().encode(), "ﬁ".casefold())
print(unicodedata.normalize("NFC", "e\u0301") == "é", unicodedata.name("☃"), unicodedata.category("A"))
print("naïve".encode("ascii", "xmlcharrefreplace"), "x\u00e9".encode("latin-1"), ascii("é"))
