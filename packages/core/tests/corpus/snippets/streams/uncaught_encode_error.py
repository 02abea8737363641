print("before")
print("lone \ud800 surrogate")
