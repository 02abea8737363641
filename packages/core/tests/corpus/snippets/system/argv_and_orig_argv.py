# argv: ["--name", "value with space", "ünï"]
import sys
print(sys.argv, sys.orig_argv)
