source = "def f():\n    raise ValueError('in exec')\nf()"
try:
    exec(source)
except ValueError:
    import traceback
    traceback.print_exc()
eval("1 +")
