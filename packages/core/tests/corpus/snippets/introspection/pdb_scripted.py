# stdin: "p x\nn\np x\nc\n"
import pdb
x = 1
pdb.set_trace()
x = 2
print("after", x)
