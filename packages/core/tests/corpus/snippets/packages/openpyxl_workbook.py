# packages: ["openpyxl", "pandas"]
import openpyxl
import pandas as pd
book = openpyxl.Workbook(); sheet = book.active
sheet["A1"], sheet["B1"] = "name", "value"
sheet.append(["x", 5]); sheet["B3"] = "=SUM(B2:B2)"
book.save("out.xlsx")
print([[cell.value for cell in row] for row in openpyxl.load_workbook("out.xlsx").active.rows])
print(pd.read_excel("out.xlsx").head(1))
pd.DataFrame({"q": [1]}).to_excel("p.xlsx", index=False); print(pd.read_excel("p.xlsx").q.tolist())
