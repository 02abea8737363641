import mimetypes, urllib.parse as up
parts = up.urlsplit("https://user:pw@example.org:8443/a%20b/c?x=1&x=2&y=#frag")
print(parts.hostname, parts.port, parts.path, up.parse_qs(parts.query, keep_blank_values=True), parts.fragment)
print(up.quote("ä b/c"), up.urlencode({"q": "a&b", "l": [1, 2]}, doseq=True), up.urljoin("http://h/a/b", "../c"))
print(mimetypes.guess_type("x.tar.gz"), mimetypes.guess_type("a.json"), mimetypes.guess_extension("text/html"))
