"""Pictures, sound and other bytes in a result. Uses packages that the script has loaded, and loads none."""

import io
import sys

_MOST_CONTENT = 6 * 1024 * 1024
_MOST_CONTENTS = 100

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
)
_SHOWN_BY_ALL = ("image/png", "image/jpeg", "image/gif", "image/webp")
_PICTURES = (("PIL.Image", "Image"), ("matplotlib.figure", "Figure"), ("matplotlib.axes", "Axes"))
_IN_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}


def media_type_of(data):
    """Detects the media type by the first bytes."""
    if data[:4] == b"RIFF":
        return _IN_RIFF.get(data[8:12], "application/octet-stream")
    if data[:256].lstrip().startswith((b"<svg", b"<?xml")) and b"<svg" in data[:1024]:
        return "image/svg+xml"
    return next((media for start, media in _SIGNATURES if data.startswith(start)), "application/octet-stream")


def kind_of(media):
    """Only formats that every client can show count as images."""
    return "image" if media in _SHOWN_BY_ALL else "audio" if media.startswith("audio/") else "bytes"


def is_a(value, module, name):
    """Whether the value is an instance of a class of a loaded package. Uses `type(value)`: `value.__class__` can be faked."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and issubclass(type(value), kind)


def is_picture(value):
    return any(is_a(value, *named) for named in _PICTURES)


def picture_of(value):
    """Returns (media type, bytes) of an image or a figure; None for other values."""
    if not is_picture(value):
        return None
    if is_a(value, "PIL.Image", "Image"):
        return "image/png", _saved_image(value)
    return "image/png", _saved_figure(value if is_a(value, "matplotlib.figure", "Figure") else value.figure)


def bytes_of(value):
    """Returns the content of bytes, a memory view or a file in memory; None for other values."""
    kind = type(value)
    if issubclass(kind, (bytes, bytearray)):
        return bytes(memoryview(value))
    if kind is memoryview:
        return value.tobytes()
    return value.getvalue() if issubclass(kind, io.BytesIO) else None


def _saved_image(image):
    target = io.BytesIO()
    # PNG supports no other modes.
    fits = image.mode in ("1", "L", "LA", "I", "I;16", "P", "RGB", "RGBA")
    (image if fits else image.convert("RGB")).save(target, "PNG")
    return target.getvalue()


def _saved_figure(figure):
    target = io.BytesIO()
    # savefig chooses the backend for PNG, whichever the script has selected.
    figure.savefig(target, format="png", bbox_inches="tight")
    return target.getvalue()


class Contents:
    """The contents of one result, in order, up to a limit of size and number."""

    def __init__(self, note):
        self.taken = []
        self._room = _MOST_CONTENT
        self._note = note

    def take(self, media, data):
        """Adds a content, and returns the text that replaces it in the JSON."""
        import base64

        size = (len(data) + 2) // 3 * 4
        if size > self._room or len(self.taken) >= _MOST_CONTENTS:
            self._note(f"{media} of {len(data)} bytes was left out: there is room for {_MOST_CONTENT} bytes of base64 in all")
            return f"({media} of {len(data)} bytes, left out)"
        self._room -= size
        self.taken.append({"kind": kind_of(media), "mimeType": media, "base64": base64.b64encode(data).decode()})
        return f"(content {len(self.taken)}: {media})"
