"""Values in sentences."""


def shown(value):
    try:
        return cut(repr(value), 200)
    except Exception:
        return f"a {type(value).__name__}"


def cut(text, length):
    return text if len(text) <= length else f"{text[:length]}…"
