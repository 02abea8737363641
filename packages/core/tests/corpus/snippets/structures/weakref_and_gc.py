import gc, sys, weakref
class Thing:
    def __init__(self, name): self.name = name
    def __repr__(self): return f"Thing({self.name})"
    def __del__(self): print("deleted", self.name)
one, two = Thing("one"), Thing("two")
one.other, two.other = two, one
reference = weakref.ref(one, lambda _: print("reference died"))
values = weakref.WeakValueDictionary(a=one); keys = weakref.WeakKeyDictionary({two: 1}); things = weakref.WeakSet([one, two])
proxy = weakref.proxy(two); finalizer = weakref.finalize(two, print, "finalized")
print(len(values), len(keys), len(things), proxy.name, sys.getrefcount(one), finalizer.alive, gc.get_count()[0] >= 0)
del one, two
print(reference() is not None, len(values))
print(gc.collect() >= 2, reference(), len(values), len(keys), len(things), finalizer.alive)
try:
    proxy.name
except ReferenceError as error:
    print(error)
gc.disable(); print(gc.isenabled()); gc.enable()
print([thing for thing in gc.get_objects() if isinstance(thing, Thing)], gc.get_stats()[2].keys())
gc.freeze(); gc.unfreeze(); print(gc.get_freeze_count())
last = Thing("at the end")
weakref.finalize(last, print, "finalized at the end")
loop = Thing("in a loop"); loop.self = loop
try:
    weakref.ref(1)
except TypeError as error:
    print(error)
