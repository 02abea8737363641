if True
    print("x")
