import pydoc
def f(a, b=1):
    """Documented.

    More text."""
help(f)
print(pydoc.render_doc(int.bit_length, renderer=pydoc.plaintext), f.__doc__, dir(f)[:2])
