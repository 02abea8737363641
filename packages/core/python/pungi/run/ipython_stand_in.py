"""`IPython.display` for scripts in an environment without IPython: the classes and functions that notebook code uses."""

import os
import sys
import types

from . import displays


class DisplayObject:
    _media = None
    _mode = "r"

    def __init__(self, data=None, url=None, filename=None, metadata=None):
        if data is not None and filename is None and url is None and isinstance(data, (str, os.PathLike)):
            data, url, filename = self._find_source(data)
        self.data, self.url, self.filename, self.metadata = data, url, None if filename is None else str(filename), metadata or {}
        self.reload()

    def _find_source(self, data):
        """(data, url, filename): the first argument may be any of them, by how it looks."""
        is_url = isinstance(data, str) and data.startswith(("http://", "https://"))
        if is_url:
            return None, data, None
        return (None, None, data) if isinstance(data, os.PathLike) else (data, None, None)

    def reload(self):
        if self.filename is not None:
            with open(self.filename, self._mode, **({} if "b" in self._mode else {"encoding": "utf-8"})) as file:
                self.data = file.read()
        elif self.url is not None and self.data is None:
            from urllib.request import urlopen

            content = urlopen(self.url).read()
            self.data = content if "b" in self._mode else content.decode("utf-8", "replace")

    def __repr__(self):
        return f"<IPython.core.display.{type(self).__name__} object>"

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {self._media: self._content()} if self._media else {}

    def _content(self):
        return self.data


class HTML(DisplayObject):
    _media = "text/html"


class Markdown(DisplayObject):
    _media = "text/markdown"


class Latex(DisplayObject):
    _media = "text/latex"


class Math(Latex):
    def _content(self):
        return f"$\\displaystyle {self.data.strip('$')}$"


class SVG(DisplayObject):
    _media = "image/svg+xml"

    def _find_source(self, data):
        return (None, None, data) if str(data).endswith(".svg") and os.path.exists(data) else super()._find_source(data)


class Javascript(DisplayObject):
    _media = "application/javascript"


class JSON(DisplayObject):
    _media = "application/json"

    def __init__(self, data=None, url=None, filename=None, expanded=False, metadata=None, root="root", **options):
        super().__init__(data, url, filename, metadata)

    def _content(self):
        if isinstance(self.data, str):
            import json

            return json.loads(self.data)
        return self.data


class Pretty(DisplayObject):
    _media = "text/plain"


class Code(DisplayObject):
    _media = "text/plain"

    def __init__(self, data=None, url=None, filename=None, language=None):
        super().__init__(data, url, filename)


class Image(DisplayObject):
    _mode = "rb"
    _STARTS = ((b"\x89PNG", "image/png"), (b"\xff\xd8", "image/jpeg"), (b"GIF8", "image/gif"), (b"RIFF", "image/webp"))

    def __init__(self, data=None, url=None, filename=None, format=None, embed=None, width=None, height=None, retina=False,
                 unconfined=False, metadata=None, alt=None):
        self.width, self.height, self.alt = width, height, alt
        super().__init__(data, url, filename, metadata)
        self.format = (format or self._media_type().removeprefix("image/")).lower()

    def _find_source(self, data):
        data, url, filename = super()._find_source(data)
        return (None, None, data) if isinstance(data, str) else (data, url, filename)

    def reload(self):
        """A picture of another server is a link to it."""
        if self.url is None:
            super().reload()

    def _media_type(self):
        start = self.data if isinstance(self.data, bytes) else b""
        return next((media for sign, media in self._STARTS if start.startswith(sign)), "image/png")

    def _repr_mimebundle_(self, include=None, exclude=None):
        if self.url is not None:
            from html import escape

            return {"text/html": f'<img src="{escape(self.url)}"/>', "text/plain": f"<IPython.core.display.Image {self.url}>"}
        return {self._media_type(): self.data} if self.data is not None else {}


class _Unseen(DisplayObject):
    """Sound, video and other pages are not shown; a line says what they are."""

    def __init__(self, *sources, **options):
        known = [str(each) for each in (*sources, *options.values()) if isinstance(each, (str, os.PathLike))]
        self.source = known[0][:200] if known else ""

    def __repr__(self):
        return f"<IPython.core.display.{type(self).__name__}{f' {self.source}' if self.source else ''}>"

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {}


class Audio(_Unseen):
    pass


class Video(_Unseen):
    pass


class YouTubeVideo(_Unseen):
    pass


class IFrame(_Unseen):
    pass


class FileLink(_Unseen):
    pass


class FileLinks(_Unseen):
    pass


_CLASSES = (
    DisplayObject, HTML, Markdown, Latex, Math, SVG, Javascript, JSON, Pretty, Code, Image, Audio, Video, YouTubeVideo, IFrame, FileLink,
    FileLinks,
)
for _each in _CLASSES:
    _each.__module__ = "IPython.core.display"


def make_display():
    if "IPython.display" in sys.modules:
        return sys.modules["IPython.display"]
    module = types.ModuleType("IPython.display", "Public API for display tools in IPython (as far as a run without IPython has them).")
    vars(module).update({each.__name__: each for each in _CLASSES})
    for name in ("display", "update_display", "clear_output", "publish_display_data", "DisplayHandle"):
        setattr(module, name, getattr(displays, name))
    module.set_matplotlib_formats = lambda *formats, **options: None
    module.__getattr__ = _missing
    return module


def make_core():
    module = types.ModuleType("IPython.core")
    module.__getattr__ = _missing
    return module


def make_package():
    module = types.ModuleType("IPython")
    module.get_ipython = lambda: None
    module.version_info, module.__version__ = (8, 24, 0, ""), "8.24.0"  # matplotlib looks for parts of older ones
    module.__getattr__ = _missing
    return module


def _missing(name):
    """Whatever else IPython has needs IPython."""
    if name.startswith("__") or name in ("display", "core"):
        raise AttributeError(name)
    raise ModuleNotFoundError("No module named 'IPython'", name="IPython")
