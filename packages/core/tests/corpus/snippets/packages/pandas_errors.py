# packages: ["pandas"]
import pandas as pd
df = pd.DataFrame({"a": [1, 2]})
print(df.merge(pd.DataFrame({"a": [2], "b": ["x"]}), how="left"))
df["missing"]
