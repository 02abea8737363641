"""Data frames of pandas and polars as CSV."""

import io

from ..calls.contents import is_a

# More cells are a file beside the display. Beyond the second number, writing them takes too long for what nobody has asked for.
_MOST_CELLS, _MOST_AS_FILE = 20_000, 2_000_000


def describe(value):
    """(text, function that writes it to a file, why there is neither) of a frame: at most one of them is not None."""
    if is_a(value, "pandas", "DataFrame"):
        cells, write = value.size, _write_pandas
    elif is_a(value, "polars", "DataFrame"):
        cells, write = value.height * value.width, _write_polars
    else:
        return None, None, None
    if cells > _MOST_AS_FILE:
        return None, None, f"text/csv of {cells} cells: save it to a file"
    if cells > _MOST_CELLS:
        return None, lambda target: write(value, target), None
    target = io.BytesIO()
    write(value, target)
    return target.getvalue().decode("utf-8", "replace"), None, None


def _write_pandas(value, target):
    text = io.TextIOWrapper(target, "utf-8", "backslashreplace", newline="")
    value.to_csv(text)
    text.detach()


def _write_polars(value, target):
    value.write_csv(target)
