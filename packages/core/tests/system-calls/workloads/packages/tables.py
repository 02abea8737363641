"""numpy, pandas, pyarrow, polars, duckdb, openpyxl, h5py: tables in memory and in files."""
import duckdb, h5py, numpy, openpyxl, pandas, polars, pyarrow.csv, pyarrow.dataset, pyarrow.feather, pyarrow.parquet

table = pandas.DataFrame({"name": list("abca"), "value": numpy.arange(4.0)})
assert table.groupby("name").value.sum()["a"] == 3.0
for save, load in (("to_csv", "read_csv"), ("to_parquet", "read_parquet"), ("to_excel", "read_excel"), ("to_pickle", "read_pickle"),
                   ("to_feather", "read_feather"), ("to_json", "read_json")):
    getattr(table, save)(f"{load}.xlsx")
    getattr(pandas, load)(f"{load}.xlsx")
numpy.save("array.npy", numpy.random.default_rng(0).random((500, 500)))
array = numpy.load("array.npy", mmap_mode="r")
numpy.linalg.svd(numpy.asarray(array)), numpy.fft.fft(array)
kept = numpy.memmap("map", dtype="float64", mode="w+", shape=(1000,))
kept[:] = 1
kept.flush()
arrow = pyarrow.Table.from_pandas(table)
pyarrow.parquet.write_to_dataset(arrow, "dataset", partition_cols=["name"])
assert pyarrow.dataset.dataset("dataset", partitioning="hive").to_table().num_rows == 4
pyarrow.csv.write_csv(arrow, "arrow.csv"), pyarrow.csv.read_csv("arrow.csv")
with pyarrow.memory_map("read_parquet.xlsx") as file:
    file.read()
frame = polars.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "x"]})
frame.write_parquet("polars.parquet"), frame.write_csv("polars.csv"), frame.write_ipc("polars.arrow")
assert polars.scan_parquet("polars.parquet").group_by("b").agg(polars.col("a").sum()).collect().height == 2
polars.scan_csv("polars.csv").sink_parquet("sink.parquet")
connection = duckdb.connect("duck.db")
connection.execute("create table t as select * from range(1000000) t(n)")
assert connection.execute("select sum(n) from t").fetchone() == (499999500000,)
connection.execute("copy t to 'duck.parquet'")
connection.execute("select count(*) from read_parquet('duck.parquet')").fetchall(), connection.execute("checkpoint")
connection.close()
with h5py.File("data.h5", "w") as file:
    file["x"] = numpy.arange(10)
with h5py.File("data.h5") as file:
    assert file["x"][:].sum() == 45
print("ok")
