import csv, io
out = io.StringIO()
writer = csv.DictWriter(out, fieldnames=["name", "note"], quoting=csv.QUOTE_MINIMAL)
writer.writeheader()
writer.writerows([{"name": "a,b", "note": 'say "hi"'}, {"name": "x", "note": "line\nbreak"}])
print(repr(out.getvalue()))
print(list(csv.reader(io.StringIO(out.getvalue()))), csv.Sniffer().sniff("a;b\n1;2\n").delimiter)
