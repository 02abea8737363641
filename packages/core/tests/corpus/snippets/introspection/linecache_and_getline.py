import linecache
print(repr(linecache.getline(__file__, 1)), linecache.getlines("missing.py"), len(linecache.getlines(__file__)))
