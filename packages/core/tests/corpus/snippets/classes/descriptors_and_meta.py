class Typed:
    def __set_name__(self, owner, name): self.name = name
    def __get__(self, obj, owner=None): return self if obj is None else obj.__dict__[self.name]
    def __set__(self, obj, value):
        if not isinstance(value, int): raise TypeError(f"{self.name} must be int")
        obj.__dict__[self.name] = value
class Meta(type):
    def __new__(mcs, name, bases, namespace, **kw):
        print("making", name, kw)
        return super().__new__(mcs, name, bases, namespace)
class A(metaclass=Meta, flag=True):
    x = Typed()
a = A(); a.x = 5
print(a.x, type(A), A.__mro__, A.__module__, A.__qualname__)
a.x = "no"
