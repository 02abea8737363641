import csv, io, itertools, json, os, sys
with open("rows.csv", "w", newline="") as file:
    writer = csv.DictWriter(file, ["id", "name", "note"], quoting=csv.QUOTE_NONNUMERIC); writer.writeheader()
    writer.writerows({"id": n, "name": f"name {n}", "note": 'a "quoted", text\nof two lines'} for n in range(2000))
print(os.path.getsize("rows.csv"))
with open("rows.csv", newline="") as rows, open("rows.jsonl", "w") as lines:
    for row in csv.DictReader(rows): lines.write(json.dumps(row, sort_keys=True) + "\n")
with open("rows.jsonl") as lines:
    print(sum(int(json.loads(line)["id"]) for line in lines))
print(csv.Sniffer().sniff("a;b;c\n1;2;3").delimiter, csv.list_dialects(), csv.field_size_limit())
for line in itertools.islice(open("rows.jsonl"), 2): sys.stdout.write(line)
def read(text):
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        value, at = decoder.raw_decode(text, at); yield value
        while at < len(text) and text[at].isspace(): at += 1
print(list(read('{"a": 1} [2] "x" 3.5e3 null')))
for chunk in json.JSONEncoder(indent=1).iterencode({"a": [1, {"b": None}]}): print(chunk, end="")
print(json.dumps({1: float("inf"), "ü": "€"}, ensure_ascii=False), json.loads("NaN"))
csv.writer(sys.stdout, delimiter="\t").writerow(["x", None, 1.5, "tab\there"])
print(next(csv.reader(io.StringIO("a,b\0c")), None) if sys.version_info >= (3, 11) else "")
json.loads('{"a": 1,}')
