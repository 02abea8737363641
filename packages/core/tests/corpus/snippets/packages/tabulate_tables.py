# packages: ["tabulate"]
from tabulate import tabulate
rows = [["apple", 1.5], ["pear", 20]]
for fmt in ("plain", "github", "grid", "html"):
    print(tabulate(rows, headers=["fruit", "qty"], tablefmt=fmt))
