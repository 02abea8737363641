# packages: ["pyarrow"]
# long: true
import pyarrow as pa, pyarrow.compute as pc, pyarrow.csv, pyarrow.parquet as pq
table = pa.table({"n": [1, 2, 3], "s": ["a", None, "c"]})
pq.write_table(table, "t.parquet"); print(pq.read_table("t.parquet").to_pydict(), pc.sum(table["n"]), table.schema)
pyarrow.csv.write_csv(table, "t.csv"); print(open("t.csv").read(), pyarrow.csv.read_csv("t.csv").num_rows)
