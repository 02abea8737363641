open("one.py", "w").write("import two\nx = 1\n")
open("two.py", "w").write("from one import x\n")
import one
