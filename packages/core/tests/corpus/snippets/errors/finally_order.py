def f():
    try:
        print("try")
        return "value"
    finally:
        print("finally")
print(f())
try:
    try:
        raise ValueError("first")
    finally:
        print("cleanup")
except ValueError as error:
    print("caught", error)
for n in range(3):
    try:
        continue
    finally:
        print("loop", n)
else:
    print("else")
