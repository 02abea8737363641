print(repr(exit), quit)
exit(4)
