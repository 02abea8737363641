"""Formats values for sentences."""


def shown(value):
    return cut(_asked(repr, value), 200)


def text_of(value):
    """The text of a value. A string stays what it is, whatever its class overrides."""
    return str.__str__(value) if isinstance(value, str) else _asked(str, value)


def _asked(how, value):
    """The repr of a value. A class of the script may run any code in it, such as ending the script."""
    try:
        return how(value)
    except MemoryError:
        raise
    except BaseException:
        return f"a {type(value).__name__}"


def cut(text, length):
    return text if len(text) <= length else f"{text[:length]}…"
