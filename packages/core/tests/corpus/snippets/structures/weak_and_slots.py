import array, gc, sys, weakref
class Node:
    __slots__ = ("value", "__weakref__")
    def __init__(self, value): self.value = value
cache = weakref.WeakValueDictionary()
node = Node(1); cache["a"] = node
print(dict(cache) == {"a": node}, sys.getrefcount(node) < 10)
del node; gc.collect()
print(list(cache), array.array("i", range(5)).tobytes().hex(), sys.getsizeof([]), sys.intern("a") is sys.intern("a"))
