import gc, weakref
class Thing: pass
thing = Thing()
weakref.finalize(thing, print, "finalized at exit")
other = Thing()
reference = weakref.ref(other, lambda r: print("other is gone"))
del other
print(reference(), thing is not None)
values = weakref.WeakValueDictionary(a=thing)
print(dict(values).keys())
