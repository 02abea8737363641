def f():
    nonlocal missing
    missing = 1
