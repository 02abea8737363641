def fall(depth):
    print("depth", depth)
    fall(depth + 1)


for number in range(5000):
    print("line", number)
try:
    fall(0)
except RecursionError as error:
    print(type(error).__name__)
for number in range(5000):
    print("again", number)
raise ValueError("after a burst")
