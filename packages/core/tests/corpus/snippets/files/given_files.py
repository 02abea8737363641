# files: {"input/sales.csv": "region,amount\nnorth,10\nsouth,20\n"}
import csv
with open("input/sales.csv", newline="") as file:
    print(sum(int(row["amount"]) for row in csv.DictReader(file)))
