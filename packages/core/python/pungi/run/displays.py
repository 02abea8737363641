"""Rich output: `display`, the protocol of `_repr_*_` methods, and pictures, sent to the server beside the output of a run.

The text of a display is printed, as a terminal would show it. Only what a terminal cannot show is sent as a display: pictures, HTML,
data. A child process of a run only prints.
"""

import base64
import json
import os
import sys

from ..calls.contents import is_a
from ..calls.shown import cut_middle, safe_repr
from . import chart_data, figures, frames, pictures, pretty_text, streams, tables
from .originals import ENDINGS, Originals
from .supervisor_channel import send_amid_script

# Bytes of one display and of all, and the number of messages: less than the supervisor admits.
_LARGEST, _MOST_BYTES, _MOST = 2 * 1024 * 1024, 16 * 1024 * 1024, 1000
_MAX_TEXT = 64 * 1024
_METHODS = {
    "_repr_png_": "image/png", "_repr_jpeg_": "image/jpeg", "_repr_svg_": "image/svg+xml", "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown", "_repr_latex_": "text/latex", "_repr_json_": "application/json",
    "_repr_javascript_": "application/javascript", "_repr_pdf_": "application/pdf",
}
_PROTOCOL = ("_ipython_display_", "_repr_mimebundle_", *_METHODS, "_repr_pretty_")
# The best text of an object whose repr says nothing about it.
_AS_TEXT = ("text/markdown", "text/latex", "application/json", "text/html", "application/javascript")
# Of these, text is base64.
_BINARY = (*pictures.SCALABLE, "image/gif", "application/pdf")
_PLAIN_TYPES = (str, bytes, int, float, bool, list, dict, tuple, set)
# Kept from before foreign code could replace them.
_getpid = os.getpid
_encoder = json.JSONEncoder(allow_nan=False, ensure_ascii=False, default=str)


class _Sent:
    """What a job has sent. Most send nothing: what they have not set is read from the class."""

    count = bytes = left_out = 0
    clears_next = False
    worker = _about = _originals = None

    @property
    def originals(self):
        if self._originals is None:
            job, path, temporary = self._about
            disk = job["limits"].get("diskMb", 0) << 20
            self._originals = Originals((os.path.dirname(path), temporary), job.get("artifactBytes", 0), disk)
        return self._originals

    def begin(self, *about):
        self.worker, self._about = _getpid(), about

    def clear(self):
        if self._originals is not None:
            self._originals.clear()


_sent = _Sent()


def begin(job, path, temporary):
    """At the beginning of a job, before foreign code runs. `path`: that of its script."""
    if _sent.worker is not None:
        _sent.clear()
        forget()
    _sent.begin(job, path, temporary)


def forget():
    """Forgets the job."""
    global _sent
    _sent = _Sent()


def finish(shows_figures=True):
    """At the end of a job: shows the figures that are open, and says how many displays were left out."""
    if shows_figures and "matplotlib.pyplot" in sys.modules and _getpid() == _sent.worker:
        figures.show_rest(show_figure)
    if _sent.left_out > 1 and _getpid() == _sent.worker:
        _send({"leftOut": _sent.left_out})


def display(*objects, display_id=None, raw=False, clear=False, **options):
    """Shows objects as a notebook does. Returns a handle if there is a `display_id`; True makes one. Other options have no effect here."""
    if clear:
        clear_output(wait=True)
    if display_id is True:
        display_id = _make_id()
    for each in objects:
        if raw:
            publish_display_data(each, transient={"display_id": display_id})
        else:
            _show(each, display_id)
    return None if display_id is None else DisplayHandle(display_id)


def update_display(value, *, display_id, **options):
    """Replaces what was shown under this id."""
    if options.pop("raw", False):
        publish_display_data(value, transient={"display_id": display_id}, update=True)
    else:
        _show(value, display_id, is_update=True)


def clear_output(wait=False):
    """The next display replaces those before it. Text that was printed stays."""
    _sent.clears_next = True


def publish_display_data(data, metadata=None, *, source=None, transient=None, update=False, **options):
    data = dict(data)
    text = data.get("text/plain")
    _publish(data, text if isinstance(text, str) else "", display_id=(transient or {}).get("display_id"), is_update=update)


def _make_id():
    return os.urandom(16).hex()


class DisplayHandle:
    def __init__(self, display_id=None):
        self.display_id = display_id or _make_id()

    def __repr__(self):
        return f"<DisplayHandle display_id={self.display_id}>"

    def display(self, value, **options):
        display(value, display_id=self.display_id, **options)

    def update(self, value, **options):
        update_display(value, display_id=self.display_id, **options)


for _each in (display, update_display, clear_output, publish_display_data, DisplayHandle):
    _each.__module__ = "IPython.core.display_functions"


def show_value(value):
    """The value of the last expression: its repr is reported, so only what is more than that is shown. Raises nothing."""
    if type(value) in _PLAIN_TYPES or _getpid() != _sent.worker:
        return
    try:
        if is_rich(value):
            _show(value, is_value=True)
    except Exception:
        pass  # the run has not asked for it


def is_rich(value):
    return any(_method(value, name) for name in _PROTOCOL) or figures.is_figure(value)


def show_figure(figure, **about):
    png = figures.draw(figure)
    if png is not None:
        data = {"image/png": png}
        if (chart := chart_data.describe(figure)) is not None:
            data[chart_data.MEDIA_TYPE] = chart
        originals = {"image/png": lambda target: figures.draw_original(figure, target)} if figures.is_scaled(figure) else {}
        _publish(data, safe_repr(figure, _MAX_TEXT), originals, **about)


def show_image(image, **about):
    """A PIL image."""
    media, data, write = pictures.encode(image)
    _publish({media: data}, safe_repr(image, _MAX_TEXT), {media: write} if write else {}, **about)


def _show(value, display_id=None, is_update=False, is_value=False):
    about = {"display_id": display_id, "is_update": is_update, "is_value": is_value}
    if figures.is_figure(value):
        return show_figure(value, **about)
    if is_a(value, "PIL.Image", "Image"):
        return show_image(value, **about)
    if show := _method(value, "_ipython_display_"):
        try:
            return show()
        except NotImplementedError:
            pass  # the object is not shown in this way
    data = _bundle_of(value)
    shown, text = safe_repr(value, _MAX_TEXT), data.get("text/plain")
    if not isinstance(text, str):
        text = data["text/plain"] = _call(lambda: pretty_text.of(value)) or shown
    if _says_nothing(text):
        text = _best_text(data) or text
    if is_value and (text == shown or not _says_nothing(shown)):
        text = ""  # its repr is in the report
    originals, omitted = _add_table(value, data)
    return _publish(data, text, originals, omitted, **about)


def _add_table(value, data):
    """Adds the CSV of a frame; returns the original if it is too long for that, and what is left out."""
    csv, write, problem = _call(lambda: tables.describe(value)) or (None, None, None)
    if csv is not None:
        data["text/csv"] = csv
    return {"text/csv": write} if write else {}, [problem] if problem else []


def _bundle_of(value):
    data = {}
    if bundle := _method(value, "_repr_mimebundle_"):
        found = _call(bundle, include=None, exclude=None)
        found = found[0] if isinstance(found, tuple) and found else found
        data.update(found if isinstance(found, dict) else {})
    for name, media in _METHODS.items():
        if media not in data and (method := _method(value, name)) and not (media == "image/jpeg" and "image/png" in data):
            found = _call(method)
            data[media] = found[0] if isinstance(found, tuple) and found else found
    return {media: each for media, each in data.items() if each is not None}


def _method(value, name):
    """Asks the class, and the object's own variables: `__getattr__` of foreign code may answer to any name."""
    if issubclass(type(value), type) or not (hasattr(type(value), name) or name in getattr(value, "__dict__", ())):
        return None
    method = getattr(value, name, None)
    return method if callable(method) else None


def _call(method, **options):
    """None where it raises. Some methods take no options."""
    try:
        return method(**options)
    except TypeError:
        if not options:
            return None
        return _call(method)
    except Exception:
        return None


def _says_nothing(text):
    return text.startswith("<") and (text.endswith(" object>") or " object at 0x" in text)


def _best_text(data):
    for media in _AS_TEXT:
        if (found := data.get(media)) is not None:
            found = found if isinstance(found, str) else _encoder.encode(found)
            return pictures.text_of_html(found) if media == "text/html" else found
    return None


def _publish(data, text, originals=(), omitted=(), display_id=None, is_update=False, is_value=False):
    """`originals`: functions that write them, by media type, where they are more than what is shown."""
    if _getpid() != _sent.worker:
        return _print(text)
    rich, originals, omitted = {}, dict(originals), list(omitted)
    for media, each in data.items():
        if media != "text/plain" and (encoded := _encode(media, each, originals, omitted)) is not None:
            rich[str(media)] = encoded
    if not any(media.startswith("image/") for media in rich):
        _print(text)
    if not rich and not omitted and not originals:
        return None
    names = {media: name for media in originals if (name := _sent.originals.reserve(media)) is not None}
    omitted += [f"{media}: it is too large" for media in originals if media not in names and media in data and media not in rich]
    if isinstance(data.get("text/plain"), str):
        rich["text/plain"] = cut_middle(data["text/plain"], _MAX_TEXT)
    elif names and not rich:
        rich["text/plain"] = ", ".join(names)
    about = {"data": rich}
    if omitted:
        about["omitted"] = omitted
    if display_id is not None:
        about["id"] = str(display_id)[:200]
    if names:
        about["originals"] = names
    if _pass_on(about | {name: True for name, is_so in (("update", is_update), ("value", is_value)) if is_so}):
        _write_originals(names, originals)
    return None


def _write_originals(names, originals):
    """After the display: it arrives even if the run reaches a limit here."""
    for media, name in names.items():
        if not _sent.originals.write(name, originals[media]) and _sent.count < _MOST:
            _sent.count += 1
            _send({"omitted": [f"the original as {media}: it is too large"]})


def _encode(media, content, originals, omitted):
    """As JSON has it: bytes as base64. None for what cannot be sent; what is too large for that becomes an original where it can."""
    whole = content
    try:
        if media in pictures.SCALABLE:
            content, original = pictures.fit(media, content)
            if original is not content:
                originals.setdefault(media, lambda target: target.write(original))
        size = len(content) if isinstance(content, (str, bytes, bytearray)) else 0
        if size <= _LARGEST and isinstance(content, (bytes, bytearray)):
            content = base64.b64encode(content).decode()
        size = size if size > _LARGEST else len(_encoder.encode(content).encode("utf-8", "surrogatepass"))
    except Exception:
        omitted.append(f"{media}: it cannot be encoded"[:200])
        return None
    if size <= (_LARGEST - 2 * _MAX_TEXT if media.startswith("image/") else _LARGEST // 2):
        return content
    if media in originals or media in ENDINGS and size <= _sent.originals.room:
        originals.setdefault(media, lambda target: target.write(_bytes_of(media, whole)))
    else:
        omitted.append(f"{media} of {size} bytes: it is too large"[:200])
    return None


def _bytes_of(media, content):
    """As a file has it."""
    if isinstance(content, (bytes, bytearray)):
        return content
    if isinstance(content, str) and media in _BINARY:
        return base64.b64decode(content)
    return (content if isinstance(content, str) else _encoder.encode(content)).encode("utf-8", "surrogatepass")


def _pass_on(about):
    """Returns whether there was room for it."""
    if _sent.clears_next:
        about["clear"] = True
    payload = _encoder.encode(about).encode("utf-8", "surrogatepass")
    if _sent.count >= _MOST or _sent.bytes + len(payload) > _MOST_BYTES or len(payload) > _LARGEST:
        _sent.left_out += 1
        if _sent.left_out == 1:
            _send({"leftOut": 1})
        return False
    if _sent.clears_next:
        _sent.clear()
    _sent.clears_next = False
    _sent.count += 1
    _sent.bytes += len(payload)
    _flush()
    _send(payload)
    return True


def _send(payload):
    if isinstance(payload, dict):
        payload = _encoder.encode(payload).encode()
    try:
        send_amid_script(frames.pack(frames.DISPLAY, payload))
    except OSError:
        pass  # foreign code has closed the channel


def _print(text):
    if text:
        print(cut_middle(text, _MAX_TEXT))


def _flush():
    """What was printed before comes before the display."""
    for stream in (sys.stdout, sys.stderr, *streams.outputs):
        try:
            stream.flush()
        except Exception:
            pass  # closed, or foreign

