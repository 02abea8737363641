try:
    compile("a b", "inner.py", "exec")
except SyntaxError as error:
    print(error, error.filename, error.lineno, error.offset, error.text)
exec("x = 1\ny = = 2\n")
