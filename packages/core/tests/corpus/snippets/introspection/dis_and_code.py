import dis
def f(a):
    return a + 1
print(f.__code__.co_consts, f.__code__.co_argcount, f.__code__.co_firstlineno, [i.opname for i in dis.get_instructions(f)][-1])
dis.dis("x = 1")
