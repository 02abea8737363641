"""Formats values whose repr may run any code, and cuts the middle of long texts."""

_LONGEST_LINE = 1000


def safe_repr(value, longest):
    try:
        shown = repr(value[:longest] if type(value) in (str, bytes) else value)
        shown = shown if type(shown) is str else str.__str__(shown)
    except MemoryError:
        raise
    except BaseException as error:
        shown = f"<{class_name_of(type(value))} object; its repr raised {class_name_of(type(error))}>"
    return cut_middle(shown, longest)


def cut_middle(text, longest):
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"


def printable_lines(text):
    """Returns the lines of a text for a terminal or a log: control characters are escaped, and long lines are cut."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [_printable(line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…") for line in lines]


def _printable(line):
    if line.isprintable():
        return line
    return "".join(each if each.isprintable() or each == "\t" else ascii(each)[1:-1] for each in line)


def class_name_of(kind):
    try:
        name, module = type.__dict__["__qualname__"].__get__(kind), type.__dict__["__module__"].__get__(kind)
        is_known = module in ("builtins", "__main__") or type(module) is not str
        return str(name if is_known else f"{module}.{name}")[:200]
    except Exception:
        return "object"
