"""Converts each kind of object to plain data, through a writer that enforces the limits."""

import sys

from .contents import bytes_of, is_a, is_picture, media_type_of, picture_of
from .shown import safe_repr
from .texts import write_timedelta

_ABSENT = object()


def _sorted_members(values):
    """Sorts a set, so that it is the same JSON in every run."""
    try:
        return sorted(values)
    except Exception:
        return sorted(values, key=lambda value: safe_repr(value, 1000))


def _write_model(writer, model, depth):
    if hasattr(type(model), "model_dump"):
        return writer.write(model.model_dump(mode="json"), depth)
    return writer.entries(model.dict().items(), depth)


def _write_dataclass(writer, value, depth):
    fields = type(value).__dataclass_fields__.values()
    names = [field.name for field in fields if str(field._field_type) == "_FIELD"]
    return writer.entries(((name, getattr(value, name)) for name in names), depth)


def _write_pydantic_type(writer, value, depth):
    """Handles types such as URLs and secrets."""
    return writer.write(sys.modules["pydantic"].TypeAdapter(type(value)).dump_python(value, mode="json"), depth)


def _write_attrs(writer, value, depth):
    return writer.entries(((each.name, getattr(value, each.name)) for each in type(value).__attrs_attrs__), depth)


def _write_bytes(writer, value, depth):
    import base64

    data = bytes_of(value)
    media = media_type_of(data)
    if media.startswith(("image/", "audio/")):
        return writer.content(media, data)
    writer.note("bytes are given as base64")
    return writer.text(base64.b64encode(data).decode())


def _write_array(writer, array, depth):
    writer.spend(array.size * 2)
    found = array.tolist()
    return writer.items(found, depth) if type(found) is list else writer.write(found, depth)


def _write_scalar(writer, value, depth):
    plain = value.item()
    return writer.text(str(value)) if type(plain) is type(value) else writer.write(plain, depth)


def _write_frame(writer, frame, depth):
    """Writes a list of rows. An index other than the default one becomes columns."""
    writer.spend(frame.size * 2)
    if type(frame.index).__name__ != "RangeIndex":
        try:
            frame = frame.reset_index()
        except ValueError:
            writer.note("the index is left out, since a column has its name")
    names = [writer.name(name) for name in frame.columns]
    if len(set(names)) < len(names):
        writer.note("several columns have the same name; the last one is given")
    rows = frame.itertuples(index=False, name=None)
    return writer.items(({name: _present(value) for name, value in zip(names, row)} for row in rows), depth)


def _present(value):
    """In a table, NaN means a missing value."""
    return None if type(value) is float and value != value else value


def _write_series(writer, series, depth):
    writer.spend(series.size * 2)
    values = [_present(value) for value in series.tolist()]
    if type(series.index).__name__ == "RangeIndex":
        return writer.items(values, depth)
    return writer.entries(zip(series.index.tolist(), values), depth)


def _write_moment(writer, value, depth):
    return writer.text(value.isoformat())


def _write_span(writer, value, depth):
    return writer.text(write_timedelta(value))


def _write_text(writer, value, depth):
    return writer.text(str(value))


def _write_items(writer, value, depth):
    return writer.items(value, depth)


def _write_entries(writer, value, depth):
    return writer.entries(value.items(), depth)


def _is_absent(value, kind):
    """Whether the value is pandas.NaT or pandas.NA."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and (value is getattr(pandas, "NaT", _ABSENT) or value is getattr(pandas, "NA", _ABSENT))


def _of(module, *names):
    return lambda value, kind: any(is_a(value, module, name) for name in names)


# (predicate, writer) pairs; the first whose predicate holds writes the value.
WRITERS = (
    (lambda value, kind: issubclass(kind, dict), lambda writer, value, depth: writer.entries(dict.items(value), depth)),
    (lambda value, kind: issubclass(kind, list), lambda writer, value, depth: writer.items(list.__iter__(value), depth)),
    (lambda value, kind: issubclass(kind, tuple) and hasattr(kind, "_fields"),
     lambda writer, value, depth: writer.entries(zip(type(value)._fields, tuple.__iter__(value)), depth)),
    (lambda value, kind: issubclass(kind, tuple), lambda writer, value, depth: writer.items(tuple.__iter__(value), depth)),
    (lambda value, kind: issubclass(kind, (set, frozenset)),
     lambda writer, value, depth: writer.items(_sorted_members(value), depth)),
    (lambda value, kind: hasattr(kind, "model_dump") or hasattr(kind, "__fields_set__"), _write_model),
    (lambda value, kind: hasattr(kind, "__get_pydantic_core_schema__"), _write_pydantic_type),
    (lambda value, kind: hasattr(kind, "__dataclass_fields__"), _write_dataclass),
    (lambda value, kind: hasattr(kind, "__attrs_attrs__"), _write_attrs),
    (lambda value, kind: bytes_of(value) is not None, _write_bytes),
    (_is_absent, lambda writer, value, depth: writer.write(None, depth)),
    (_of("datetime", "date", "time"), _write_moment),
    (_of("datetime", "timedelta"), _write_span),
    (_of("decimal", "Decimal"), _write_text),
    (_of("fractions", "Fraction"), _write_text),
    (_of("uuid", "UUID"), _write_text),
    (_of("pathlib", "PurePath"), _write_text),
    (_of("ipaddress", "_IPAddressBase"), _write_text),
    (_of("zoneinfo", "ZoneInfo"), _write_text),
    (_of("re", "Pattern"), lambda writer, value, depth: writer.write(value.pattern, depth)),
    (_of("types", "SimpleNamespace"), lambda writer, value, depth: writer.entries(vars(value).items(), depth)),
    (_of("types", "MappingProxyType"), _write_entries),
    (_of("collections", "deque", "UserList"), _write_items),
    (_of("collections", "ChainMap", "UserDict"), _write_entries),
    (_of("array", "array"), _write_items),
    (lambda value, kind: kind in (range, type({}.keys()), type({}.values()), type({}.items())), _write_items),
    (_of("numpy", "generic"), _write_scalar),
    (_of("numpy", "ndarray"), _write_array),
    (_of("pandas", "DataFrame"), _write_frame),
    (_of("pandas", "Series"), _write_series),
    (_of("pandas", "Period", "Interval"), _write_text),
    (_of("pandas", "Index"), lambda writer, value, depth: writer.items(value.tolist(), depth)),
    (_of("polars", "DataFrame"), lambda writer, value, depth: writer.items(value.iter_rows(named=True), depth)),
    (_of("polars", "Series"), lambda writer, value, depth: writer.items(value.to_list(), depth)),
    (lambda value, kind: is_picture(value), lambda writer, value, depth: writer.content(*picture_of(value))),
)
