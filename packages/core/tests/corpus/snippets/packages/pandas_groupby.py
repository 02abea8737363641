# packages: ["pandas", "numpy"]
import pandas as pd
df = pd.DataFrame({"city": ["Oslo", "Rome", "Oslo"], "temp": [5, 20, 7.5], "day": pd.date_range("2024-01-01", periods=3)})
print(df, df.dtypes, df.groupby("city").temp.agg(["mean", "count"]), df.describe(), sep="\n")
print(df.pivot_table(index="city", values="temp"), df.sort_values("temp").to_string(index=False), sep="\n")
df.info()
