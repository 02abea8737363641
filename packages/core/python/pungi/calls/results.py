"""Describes the result of a function: JSON if possible, images and other contents, else the repr with a note. Bounded."""

from .contents import Contents, bytes_of, media_type_of, picture_of
from .plain_data import MOST_JSON, TOO_DEEP, TOO_LARGE, NotWritten, PlainData, write_json
from .shown import class_name_of, safe_repr

_MOST_REPR = 64 * 1024
_MOST_NOTES = 10
_LONGEST_NOTE = 300
_NO_JSON = object()


class FirstValues(list):
    """The first values of an iterator that has more than the limit."""


def describe_result(value):
    """Returns {type, repr} and, if there are any, json, content and note. Never fails, whatever the value does."""
    notes = []
    if type(value) is FirstValues:
        value = list(value)
        notes.append(f"only the first {len(value)} values were taken")

    def add_note(text):
        if text[:_LONGEST_NOTE] not in notes and len(notes) < _MOST_NOTES:
            notes.append(text[:_LONGEST_NOTE])

    contents = Contents(add_note)
    about = {"type": class_name_of(type(value)), "repr": safe_repr(value, _MOST_REPR)}
    found = _as_json_value(value, contents, add_note)
    if found is not _NO_JSON:
        about["json"] = found
    if contents.taken:
        about["content"] = contents.taken
    if notes:
        about["note"] = f"{'; '.join(notes)}."
    return about


def _as_json_value(value, contents, add_note):
    try:
        if _is_whole_content(value, contents):
            return _NO_JSON
        data = PlainData(contents, add_note)
        found = data.write(value)
        if data.is_only_repr:
            return _NO_JSON
        if len(write_json(found).encode("utf-8", "surrogatepass")) > MOST_JSON:
            raise NotWritten(TOO_LARGE)
        return found
    except NotWritten as reason:
        add_note(str(reason))
    except MemoryError:
        raise
    except RecursionError:
        add_note(TOO_DEEP)
    except BaseException as error:
        add_note(f"the value could not be written as JSON: {class_name_of(type(error))}: {safe_repr(error, 200)}")
    return _NO_JSON


def _is_whole_content(value, contents):
    """Adds the value to the contents if it is an image or bytes. Returns whether it is."""
    if picture := picture_of(value):
        contents.take(*picture)
        return True
    data = bytes_of(value)
    if data is not None:
        contents.take(media_type_of(data), data)
    return data is not None
