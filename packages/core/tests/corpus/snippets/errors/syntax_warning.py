x = 5
if x is 5:
    print("identity of a literal")
