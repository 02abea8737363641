# packages: ["pandas"]
# files: {"sales.csv": "date,amount\n2024-01-01,10\n2024-01-02,20.5\n2024-02-01,\n"}
import io, sqlite3
import pandas as pd
df = pd.read_csv("sales.csv", parse_dates=["date"])
print(df.set_index("date").resample("MS").sum(), df.isna().sum().to_dict())
df.to_json("x.json", orient="records"); print(open("x.json").read())
with sqlite3.connect(":memory:") as db:
    df.to_sql("sales", db, index=False); print(pd.read_sql("SELECT count(*) AS n FROM sales", db))
df.to_pickle("x.pkl"); print(pd.read_pickle("x.pkl").shape)
df.to_markdown()
