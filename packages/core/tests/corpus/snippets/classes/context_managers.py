from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
@contextmanager
def step(name):
    print("enter", name)
    try:
        yield name.upper()
    except KeyError as error:
        print("handled", error)
    finally:
        print("exit", name)
with step("a") as value, suppress(ZeroDivisionError):
    print(value); 1 / 0
with ExitStack() as stack:
    stack.enter_context(step("b")); stack.callback(print, "callback")
    raise KeyError("inside")
with step("c"):
    raise RuntimeError("passes through")
