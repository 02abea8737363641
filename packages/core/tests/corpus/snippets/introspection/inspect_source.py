import inspect
def add(a: int, b: int = 2, *args, key=None, **kw) -> int:
    """Adds."""
    return a + b  # comment
class Thing:
    def method(self):
        pass
print(inspect.getsource(add), inspect.getsource(Thing), inspect.signature(add), inspect.getdoc(add), sep="\n")
print(inspect.getsourcelines(Thing.method), inspect.getsourcefile(add).endswith("main.py"), inspect.getfile(Thing).endswith("main.py"))
print(inspect.getsource(lambda x: x + 1), inspect.getmodule(add).__name__, inspect.getcomments(add))
