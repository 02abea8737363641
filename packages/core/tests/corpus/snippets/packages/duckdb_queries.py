# packages: ["duckdb"]
# long: true
import duckdb
print(duckdb.sql("SELECT range AS n, n * n AS sq FROM range(4)").fetchall())
with duckdb.connect("f.db") as db:
    db.execute("CREATE TABLE t AS SELECT * FROM range(1000) r(x)"); print(db.execute("SELECT sum(x), avg(x) FROM t").fetchone())
print(duckdb.sql("SELECT 42 AS answer"))
