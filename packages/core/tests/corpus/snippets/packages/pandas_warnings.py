# packages: ["pandas"]
import pandas as pd
df = pd.DataFrame({"a": [1, 2, 3]})
part = df[df.a > 1]
part["b"] = 5
print(part)
print(pd.Series([1, None]).fillna(0).astype(int).tolist())
