import os
os.mkdir("folder")
for action in (lambda: open("folder"), lambda: os.rmdir("missing"), lambda: os.mkdir("folder"), lambda: os.listdir("main.py")):
    try:
        action()
    except OSError as error:
        print(type(error).__name__, error)
