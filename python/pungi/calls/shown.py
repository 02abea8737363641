"""Shows an object that may do anything when it is shown."""


def safe_repr(value, longest):
    try:
        shown = repr(value[:longest] if type(value) in (str, bytes) else value)
        shown = shown if type(shown) is str else str.__str__(shown)
    except MemoryError:
        raise
    except BaseException as error:
        shown = f"<{class_name_of(type(value))} object; its repr raised {class_name_of(type(error))}>"
    if len(shown) <= longest:
        return shown
    half = longest // 2
    return f"{shown[:half]}\n… {len(shown) - 2 * half} characters left out …\n{shown[-half:]}"


def class_name_of(kind):
    try:
        name, module = type.__dict__["__qualname__"].__get__(kind), type.__dict__["__module__"].__get__(kind)
        is_known = module in ("builtins", "__main__") or type(module) is not str
        return str(name if is_known else f"{module}.{name}")[:200]
    except Exception:
        return "object"
