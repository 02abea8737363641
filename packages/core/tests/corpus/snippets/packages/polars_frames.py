# packages: ["polars"]
# long: true
import polars as pl
df = pl.DataFrame({"a": [1, 2, 3], "g": ["x", "y", "x"]})
print(df.group_by("g").agg(pl.col("a").sum()).sort("g"), df.lazy().filter(pl.col("a") > 1).collect())
df.write_parquet("x.parquet"); print(pl.scan_parquet("x.parquet").select(pl.len()).collect().item())
