import gc
class Node:
    def __init__(self): self.me = self
    def __del__(self): print("collected")
gc.disable()
node = Node()
del node
print("unreachable:", gc.collect() >= 1)
gc.enable()
print(gc.isenabled(), gc.get_threshold(), len(gc.callbacks), gc.garbage)
