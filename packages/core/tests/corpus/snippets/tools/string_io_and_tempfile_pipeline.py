import csv, io, json, sys
rows = [{"city": "Oslo", "temp": 5}, {"city": "Rome", "temp": 20}]
csv.DictWriter(sys.stdout, ["city", "temp"], lineterminator="\n").writerows(rows)
json.dump(rows, sys.stdout); print()
print(io.BytesIO(b"a\nb").readlines(), io.StringIO("x\ny").read(1))
