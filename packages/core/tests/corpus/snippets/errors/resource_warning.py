import warnings
warnings.simplefilter("always")
def leak():
    open("main.py")
leak()
print("leaked")
