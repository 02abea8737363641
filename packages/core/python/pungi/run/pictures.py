"""Pictures as bytes: made small enough to be shown, where Pillow is installed. And HTML as text."""

import base64
import binascii
import io
import struct

SCALABLE = ("image/png", "image/jpeg", "image/webp")
_WIDEST, _TALLEST = 1000, 1500
# Larger pictures, in bytes or in pixels of a side, are scaled.
_LARGE, _WIDE = 400 * 1024, 2000
# A picture with more bytes than this is a photo, which is much smaller as JPEG.
_PHOTO = 250 * 1024
# The original of a larger picture is not kept: it would take too long.
_MOST_PIXELS = 40_000_000
_AS_PNG = ("1", "L", "LA", "P", "RGB", "RGBA", "I;16")
# Modes that are not RGB without a loss.
_NEAREST = {"I": "I;16", "La": "LA", "PA": "RGBA", "RGBa": "RGBA"}


def encode(image):
    """(media type, bytes) of a PIL image, scaled to what is shown, and a function that writes the original; None if it is the same."""
    small = _for_png(_scaled(image))
    png = _saved(small, "PNG")
    if len(png) > _PHOTO and "A" not in small.getbands() and small.mode != "P":
        media, data = "image/jpeg", _saved(small.convert("RGB"), "JPEG", quality=85)
        write = lambda target: image.convert("RGB").save(target, "JPEG", quality=95)  # noqa: E731
    else:
        media, data = "image/png", png
        write = lambda target: _for_png(image).save(target, "PNG", compress_level=1)  # noqa: E731
    return media, data, None if small.size == image.size or image.width * image.height > _MOST_PIXELS else write


def _for_png(image):
    return image if image.mode in _AS_PNG else image.convert(_NEAREST.get(image.mode, "RGB"))


def fit(media, content):
    """(the picture as it is shown, the original) of the content of a display: bytes, or base64 of them. They are the same where it is
    small, or Pillow is not installed."""
    data = _decoded(content)
    if len(data) <= _LARGE and max(_size_of_png(data)) <= _WIDE:
        return data, data
    try:
        from PIL import Image
    except Exception:
        return data, data
    image = Image.open(io.BytesIO(data))
    kind = media.removeprefix("image/").upper()
    smaller = _saved(_scaled(image), kind)
    return (smaller if len(smaller) < len(data) else data), data


def _decoded(content):
    if isinstance(content, str):
        return base64.b64decode("".join(content.split()), validate=True)
    if not isinstance(content, (bytes, bytearray, memoryview)):
        raise binascii.Error("not a picture")
    return bytes(content)


def _size_of_png(data):
    return struct.unpack(">II", data[16:24]) if data[:4] == b"\x89PNG" and len(data) >= 24 else (0, 0)


def _scaled(image):
    scale = min(1, _WIDEST / max(1, image.width), _TALLEST / max(1, image.height))
    if scale == 1:
        return image
    if image.mode in ("P", "1"):
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    return image.resize((max(1, round(image.width * scale)), max(1, round(image.height * scale))))


def _saved(image, kind, **options):
    target = io.BytesIO()
    image.save(target, kind, **options)
    return target.getvalue()


def text_of_html(source):
    """The words of it: a line for each paragraph and for each row of a table."""
    import html
    import re

    seen = re.sub(r"(?is)<(style|script|audio|video|iframe)\b.*?(</\1\s*>|$)", " ", source[: 1 << 20])
    parts = re.split(r"(?is)(<pre\b.*?</pre\s*>)", seen)
    parts[::2] = (" ".join(part.split()) for part in parts[::2])  # line breaks of the source are spaces
    lines = re.sub(r"(?i)<(br|/p|/div|/tr|/li|/h\d|/?pre|/table)\b[^>]*>", "\n", " ".join(parts))
    cells = re.sub(r"(?i)</t[dh]\b[^>]*>", " | ", lines)
    words = html.unescape(re.sub(r"<[^>]*>", " ", cells))
    shown = (" ".join(line.split()).removesuffix("|").rstrip() for line in words.split("\n"))
    return "\n".join(line for line in shown if line.strip("| "))
