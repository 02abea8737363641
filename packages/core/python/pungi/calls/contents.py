"""Pictures, sound and other bytes that a function gave back. Packages are used, never loaded."""

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
    """By how the bytes begin."""
    if data[:4] == b"RIFF":
        return _IN_RIFF.get(data[8:12], "application/octet-stream")
    if data[:256].lstrip().startswith((b"<svg", b"<?xml")) and b"<svg" in data[:1024]:
        return "image/svg+xml"
    return next((media for start, media in _SIGNATURES if data.startswith(start)), "application/octet-stream")


def kind_of(media):
    """A picture is one that every client can show."""
    return "image" if media in _SHOWN_BY_ALL else "audio" if media.startswith("audio/") else "bytes"


def is_a(value, module, name):
    """Whether it is of a class of a package that is loaded; `value.__class__` is not asked, it may say anything."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and issubclass(type(value), kind)


def is_picture(value):
    return any(is_a(value, *named) for named in _PICTURES)


def picture_of(value):
    """(media type, bytes) of what is shown as a picture; None for anything else."""
    if not is_picture(value):
        return None
    if is_a(value, "PIL.Image", "Image"):
        return "image/png", _saved_image(value)
    return "image/png", _saved_figure(value if is_a(value, "matplotlib.figure", "Figure") else value.figure)


def bytes_of(value):
    """What is held by bytes, by a view of some, or by a file in memory; None for anything else."""
    kind = type(value)
    if issubclass(kind, (bytes, bytearray)):
        return bytes(memoryview(value))
    if kind is memoryview:
        return value.tobytes()
    return value.getvalue() if issubclass(kind, io.BytesIO) else None


def _saved_image(image):
    target = io.BytesIO()
    # PNG has no room for other kinds of colour.
    fits = image.mode in ("1", "L", "LA", "I", "I;16", "P", "RGB", "RGBA")
    (image if fits else image.convert("RGB")).save(target, "PNG")
    return target.getvalue()


def _saved_figure(figure):
    target = io.BytesIO()
    # By the part that writes PNG, whatever the script has chosen to draw with.
    figure.savefig(target, format="png", bbox_inches="tight")
    return target.getvalue()


class Contents:
    """Those of one value, in their order, as much as there is room for."""

    def __init__(self, note):
        self.taken = []
        self._room = _MOST_CONTENT
        self._note = note

    def take(self, media, data):
        """A word that stands for it where it was found."""
        import base64

        size = (len(data) + 2) // 3 * 4
        if size > self._room or len(self.taken) >= _MOST_CONTENTS:
            self._note(f"{media} of {len(data)} bytes was left out: there is room for {_MOST_CONTENT} bytes of base64 in all")
            return f"({media} of {len(data)} bytes, left out)"
        self._room -= size
        self.taken.append({"kind": kind_of(media), "mimeType": media, "base64": base64.b64encode(data).decode()})
        return f"(content {len(self.taken)}: {media})"
