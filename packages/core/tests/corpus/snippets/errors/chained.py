def load(key):
    try:
        return {}[key]
    except KeyError as error:
        raise ValueError(f"no value for {key!r}") from error
try:
    load("a")
except ValueError:
    raise RuntimeError("while handling")
