from graphlib import CycleError, TopologicalSorter
print(list(TopologicalSorter({"app": {"lib", "log"}, "lib": {"core"}, "log": {"core"}, "core": set()}).static_order())[0])
try:
    list(TopologicalSorter({"a": {"b"}, "b": {"a"}}).static_order())
except CycleError as error:
    print(error.args[0], len(error.args[1]))
a, b = {1, 2, 3}, frozenset({2, 3, 4})
print(a & b, a | b, a - b, a ^ b, a.isdisjoint({9}), {**{"x": 1}, "y": 2} | {"x": 3})
