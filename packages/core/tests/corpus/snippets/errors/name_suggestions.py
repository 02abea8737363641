import collections
def f():
    return colections
try:
    f()
except NameError as error:
    print(error, error.name)
total = 1
print(totl)
