import re
text = "Order #123 on 2024-05-06, order #77 on 2023-01-02; mail: a.b@example.org"
print(re.findall(r"#(\d+)", text), re.sub(r"(\d{4})-(\d\d)-(\d\d)", r"\3.\2.\1", text))
match = re.search(r"(?P<user>[\w.]+)@(?P<host>[\w.]+)", text)
print(match.groupdict(), match.span(), match)
print(re.split(r"[;,]\s*", text), re.compile(r"(?i)ORDER").pattern, re.escape("a.b*c"))
print([m.group() for m in re.finditer(r"(?<=#)\d+(?=\son)", text)], re.fullmatch(r"\d+", "12a"))
try:
    re.compile("(unclosed")
except re.error as error:
    print(error, error.pos)
