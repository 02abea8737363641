#: a table and its statistics | strategic | allowed | pandas
import pandas as pd
import numpy as np
df = pd.DataFrame({"team": ["a", "b", "a"], "cost": [1.0, 2.0, 3.0], "value": [2.0, 5.0, 4.0]})
df["roi"] = (df["value"] - df["cost"]) / df["cost"]
print(df.groupby("team").agg({"roi": ["mean", "std"], "cost": "sum"}).round(2).to_string())
print(df.describe(), df.corr(numeric_only=True), np.percentile(df["cost"], [25, 50, 75]))
#: what pandas calls eval and query | strategic | allowed | pandas
import pandas as pd
df = pd.DataFrame({"open": [1.0, 2.0], "close": [2.0, 1.0], "eval": [1, 2]})
limit = 1.5
print(df.eval("gain = close - open"), df.query("open > @limit and close < 2"), pd.eval("df.open + df.close"))
print(df.open.mean(), df["open"].max(), df.eval("open + close").sum())
#: a file is read by pandas | strategic | allowed | pandas
import pandas as pd
df = pd.read_csv("data.csv")
print(df.head(), df.dtypes, df.isna().sum())
#: a file is written and read again by pandas | strategic | allowed | pandas
import pandas as pd
df = pd.DataFrame({"a": [1, 2]})
df.to_csv("out.csv", index=False)
df.to_json("out.json")
df.to_pickle("out.pkl")
print(pd.read_csv("out.csv").equals(df), pd.read_json("out.json").shape, pd.read_pickle("out.pkl").shape)
#: files are read and written by numpy | strategic | allowed | pandas
import numpy as np
np.save("a.npy", np.arange(3))
np.savetxt("a.txt", np.arange(3))
print(np.load("a.npy"), np.loadtxt("a.txt"), np.genfromtxt("data.csv", delimiter=",", skip_header=1).shape)
#: dates and resampling | strategic | allowed | pandas
import pandas as pd, numpy as np
index = pd.date_range("2024-01-01", periods=90, freq="D", tz="UTC")
series = pd.Series(np.random.default_rng(1).normal(size=90), index=index)
print(series.resample("W").mean().tail(2), series.rolling(7).std().dropna().head(1), series.tz_convert("Europe/Berlin").head(1))
#: pivots and merges | strategic | allowed | pandas
import pandas as pd
a = pd.DataFrame({"k": [1, 2, 2], "v": [1, 2, 3], "g": list("xyx")})
b = pd.DataFrame({"k": [1, 2], "w": [10, 20]})
m = a.merge(b, on="k", how="left")
print(m.pivot_table(index="k", columns="g", values="v", aggfunc="sum", fill_value=0), m.melt(id_vars="k").shape, pd.concat([a, b]).shape)
#: apply with functions of the script | strategic | allowed | pandas
import pandas as pd, numpy as np
def grade(row):
    return "high" if row["v"] > 1 else "low"
df = pd.DataFrame({"v": [1, 2]})
df["g"] = df.apply(grade, axis=1)
print(df["v"].map(lambda x: x ** 2).tolist(), np.where(df["v"] > 1, "a", "b"), df.transform({"v": np.sqrt}))
#: present value and growth | strategic | allowed | pandas
import numpy as np
flows = np.array([-1000, 300, 420, 680])
npv = sum(flow / 1.08 ** year for year, flow in enumerate(flows))
print(round(npv, 2), np.polyfit([1, 2, 3], [1, 4, 9], 2), np.linalg.lstsq(np.eye(2), np.ones(2), rcond=None)[0], np.random.seed(1))
#: warnings of numpy | strategic | allowed | pandas
import numpy as np
print(np.log(np.array([0.0, -1.0])), np.array([1.0]) / 0)
#: names of numpy that are names of modules | strategic | allowed | pandas
import numpy as np, pandas as pd
print(np.copy(np.array([1])), np.select([np.array([True])], [1]), np.random.default_rng(0).integers(3) >= 0, np.typing, pd.api.types.is_numeric_dtype(int))
#: a table as text in many forms | strategic | allowed | pandas
import pandas as pd
df = pd.DataFrame({"a": [1.5, 2.5]})
print(df.to_html(), df.to_csv(), df.to_dict("records"), df.to_json(orient="split"), df.style is not None if False else "")
#: what the profile brings without an import | strategic-with-pandas | allowed | pandas
print(pandas.DataFrame({"a": [1]}).shape, numpy.arange(3).sum())
#: os of what the profile brings | strategic-with-pandas | static import 1 | pandas
pandas.io.common.os.getcwd()
#: os of pandas | strategic | static import 2 | pandas
import pandas as pd
pd.io.common.os.system("true")
#: os of pandas through a variable | strategic | static import 3 | pandas
import pandas as pd
common = pd.io.common
common.os.system("true")
#: os from a part of pandas | strategic | static import 1 | pandas
from pandas.io.common import os
#: a module of pandas that is not blocked by name | strategic-not-loaded | run import 2 | pandas
import pandas as pd
pd.io.common.tarfile.open("x")
#: a computed name of a module of pandas | strategic | run import 3 | pandas
import pandas as pd
for name in ["os"]:
    getattr(pd.io.common, name)
#: a query that calls the system | strategic | static import 3 | pandas
import pandas as pd
df = pd.DataFrame({"a": [1]})
df.query('@pd.io.common.os.system("true") == 0')
#: a computed query that calls the system | strategic | run operation 4 | pandas
import pandas as pd
df = pd.DataFrame({"a": [1]})
text = "".join(reversed('0 == )"eurt"(metsys.so.nommoc.oi.dp@'))
df.query(text, engine="python")
#: a query that looks inside the interpreter | strategic | static introspection 3 | pandas
import pandas as pd
df = pd.DataFrame({"a": [1]})
df.query("@df.__class__.__base__.__subclasses__()")
#: a query with __import__ | strategic | static import 3 | pandas
import pandas as pd
df = pd.DataFrame({"a": [1]})
df.query("@__import__('os').system('true')")
#: pandas.eval with __import__ | strategic | static import 2 | pandas
import pandas as pd
pd.eval("__import__('os').system('true')")
#: a pickle for pandas that names os | strategic | run import 2 | pandas
import pandas as pd
pd.read_pickle("bad.pkl")
#: a pickle for numpy that names os | strategic | run import 2 | pandas
import numpy as np
np.load("bad.pkl", allow_pickle=True)
#: a function of numpy in C that opens a file | strategic | run builtin 2 | pandas
import numpy as np
np.arange(3).tofile("x")
#: pandas on the network | strategic | run operation 2 | pandas
import pandas as pd
pd.read_csv("http://127.0.0.1:9/x.csv")
#: ctypes of numpy | strategic | static import 2 | pandas
import numpy as np
np.ctypeslib.ctypes.CDLL(None)
#: open by a function of pandas' apply | strategic | static builtin 2 | pandas
import pandas as pd
pd.Series(["data.csv"]).map(open)
#: an index error is the script's | strategic | raises KeyError | pandas
import pandas as pd
pd.DataFrame({"a": [1]})["b"]
#: a missing file is the script's | strategic | raises FileNotFoundError | pandas
import pandas as pd
pd.read_csv("missing.csv")
