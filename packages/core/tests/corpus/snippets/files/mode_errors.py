import io, os
for action in (lambda: open("x", "rw"), lambda: open("none.txt"), lambda: open("/nope/x", "w"), lambda: open("main.py", "x"), lambda: open("main.py").write("x"), lambda: open("main.py", "rb").read().decode("utf-16"), lambda: os.mkdir("a/b/c"), lambda: os.rmdir("/"), lambda: open("\0"), lambda: open(999), lambda: os.listdir("main.py")):
    try: action()
    except Exception as error: print(type(error).__name__, str(error)[:90])
