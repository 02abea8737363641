import functools
@functools.lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(90), fib.cache_info(), functools.reduce(lambda a, b: a * b, range(1, 6)), functools.partial(int, base=2)("101"))
@functools.singledispatch
def show(value): return f"object {value}"
@show.register
def _(value: int): return f"int {value}"
print(show("x"), show(3), functools.partial(print, "a", sep="-"))
@functools.total_ordering
class V:
    def __init__(self, n): self.n = n
    def __eq__(self, o): return self.n == o.n
    def __lt__(self, o): return self.n < o.n
print(V(1) >= V(0), sorted([V(3), V(1)], key=functools.cmp_to_key(lambda a, b: a.n - b.n))[0].n)
