import sys
for name in ("pungi", "numpy", "asyncio", "multiprocessing", "socket", "ast", "json", "site", "threading", "resource", "linecache", "traceback"):
    print(name, name in sys.modules)
