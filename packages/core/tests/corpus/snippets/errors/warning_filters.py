import sys, warnings
print(sys.warnoptions, [(f[0], f[2].__name__, f[3] and str(f[3])) for f in warnings.filters])
