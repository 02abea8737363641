"""Values in sentences."""


def shown(value):
    return cut(_asked(repr, value), 200)


def told(value):
    """Its text. What is a text already stays what it is, whatever its class makes of it."""
    return str.__str__(value) if isinstance(value, str) else _asked(str, value)


def _asked(how, value):
    """A class of the script's own may do anything when it is asked, such as end the script."""
    try:
        return how(value)
    except MemoryError:
        raise
    except BaseException:
        return f"a {type(value).__name__}"


def cut(text, length):
    return text if len(text) <= length else f"{text[:length]}…"
