import os, sys
print(sys.path[0] == os.getcwd(), all(isinstance(p, str) for p in sys.path), len(sys.path) == len(set(sys.path)))
print([os.path.basename(p) for p in sys.path])
print([finder if isinstance(finder, type) else type(finder) for finder in sys.meta_path])
print([getattr(hook, "__name__", hook) for hook in sys.path_hooks])
