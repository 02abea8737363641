"""Connects packages to displays when a script imports them. Nothing is done for a script that imports none of them.

The hook is in the finder for files, so that a script's import system looks like that of any interpreter.
"""

import builtins
import functools
import json
import os
import sys
import types
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder

from . import displays, figures, ipython_stand_in

_find = PathFinder.find_spec
# The backend in the variables of every run (spawn.ts): interpreters that a script starts use it.
_USUAL_BACKEND = "agg"
# Renderers of plotly that need a notebook or a browser. Those for pictures stay: the package kaleido makes them.
_PLOTLY_NAMES = (
    "plotly_mimetype", "jupyterlab", "nteract", "vscode", "notebook", "notebook_connected", "kaggle", "azure", "colab", "cocalc",
    "databricks", "iframe", "iframe_connected", "browser", "firefox", "chrome", "chromium", "json",
)
_FILE_BACKENDS = ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")
_FUNCTIONS = ("display", "update_display", "clear_output", "publish_display_data")


def install():
    """In the fork server, when packages have been loaded."""
    builtins.display = displays.display
    PathFinder.find_spec = staticmethod(_find_spec)
    for name, connect in CONNECT.items():
        if name in sys.modules:
            _try_to(connect, sys.modules[name])


def _find_spec(name, path=None, target=None):
    spec = _find(name, path, target)
    if spec is None:
        return ModuleSpec(name, _StandIn, is_package=name in _PACKAGES) if name in _STAND_INS else None
    if name in CONNECT and spec.loader is not None:
        _call_after_loading(spec.loader, CONNECT[name])
    return spec


def _call_after_loading(loader, connect):
    def exec_module(module):
        del loader.exec_module
        loader.exec_module(module)
        _try_to(connect, module)

    try:
        loader.exec_module = exec_module
    except AttributeError:
        pass


def _try_to(connect, module):
    try:
        connect(module)
    except Exception:
        pass  # another version of the package, or another package: it works as without us


def _connect_matplotlib(matplotlib):
    if os.environ.get("MPLBACKEND") in (None, "", _USUAL_BACKEND):
        matplotlib.rcParams["backend"] = f"module://{figures.BACKEND}"
    # A font that is not installed is replaced by another one; to say so for every text helps nobody.
    logging = sys.modules["logging"]
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)


def _connect_pyplot(pyplot):
    """`plt.show()` shows figures also where the script has chosen a backend for files, which could only warn."""
    show = pyplot.show

    @functools.wraps(show)
    def show_figures(*arguments, **options):
        is_for_files = str(pyplot.get_backend()).lower() in _FILE_BACKENDS
        return figures.show_all(displays.show_figure) if is_for_files else show(*arguments, **options)

    pyplot.show = show_figures


class _Viewer:
    """Shows an image instead of starting a program."""

    def show(self, image, **options):
        displays.show_image(image)
        return True


def _connect_pillow(image_show):
    image_show.register(_Viewer(), 0)


def _connect_plotly(renderers):
    """A script may name the renderers of its notebook, also several: the figure is shown here, once."""
    class PungiRenderer(renderers.MimetypeRenderer):
        def to_mimebundle(self, figure):
            return _describe_plotly(figure)

    ours = PungiRenderer()
    for name in ("pungi", *_PLOTLY_NAMES):
        renderers.renderers[name] = ours
    renderers.nbformat = renderers.nbformat or types.SimpleNamespace(__version__="5.0")  # only its version is looked at
    if not os.environ.get("PLOTLY_RENDERER"):
        renderers.renderers.default = "pungi"


def _describe_plotly(figure):
    import plotly.io

    traces = figure.get("data") or ()
    kinds = ", ".join(dict.fromkeys(str(trace.get("type", "scatter")) for trace in traces))
    title = (figure.get("layout") or {}).get("title")
    title = title.get("text") if isinstance(title, dict) else title
    return {
        "text/plain": f"<plotly figure{f' {title!r}' if title else ''}: {len(traces)} trace{'' if len(traces) == 1 else 's'} ({kinds})>",
        "application/vnd.plotly.v1+json": json.loads(plotly.io.to_json(figure, validate=False)),
        "text/html": plotly.io.to_html(figure, include_plotlyjs="cdn", validate=False),
    }


def _connect_ipython(module):
    for name in _FUNCTIONS:
        if hasattr(module, name):
            setattr(module, name, getattr(displays, name))


class _StandIn:
    """Loads modules that are no files."""

    @staticmethod
    def create_module(spec):
        return _STAND_INS[spec.name]()

    @staticmethod
    def exec_module(module):
        if module.__name__ == "IPython":
            import_module("IPython.display")


# What is done when a module is loaded, by its name.
CONNECT = {
    "matplotlib": _connect_matplotlib, "matplotlib.pyplot": _connect_pyplot,
    "PIL.ImageShow": _connect_pillow, "plotly.io._renderers": _connect_plotly,
    "IPython.core.display_functions": _connect_ipython, "IPython.core.display": _connect_ipython, "IPython.display": _connect_ipython,
}
_PACKAGES = ("IPython", "IPython.core")
_STAND_INS = {
    "IPython": ipython_stand_in.make_package, "IPython.core": ipython_stand_in.make_core,
    "IPython.display": ipython_stand_in.make_display, "IPython.core.display": ipython_stand_in.make_display,
    figures.BACKEND: lambda: figures.make_backend(displays.show_figure),
}
