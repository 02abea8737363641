"""Pictures of matplotlib's figures, and the backend that shows them. matplotlib is used where a script has loaded it."""

import io
import math
import sys
import types
import weakref

from ..calls.contents import is_a

# A wider picture is no clearer to those who get it, and takes more of the room for pictures.
_WIDEST, _TALLEST = 1000, 1500
# The original of a figure has at most this many: drawing takes memory and time.
_MOST_PIXELS = 16_000_000
BACKEND = "pungi_figures"
# Figures whose latest state has been shown.
_shown = weakref.WeakSet()


def is_figure(value):
    return is_a(value, "matplotlib.figure", "Figure")


def draw(figure):
    """PNG; None for a figure without content."""
    if not (figure.axes or figure.lines or figure.patches or figure.texts or figure.images or getattr(figure, "subfigs", ())):
        return None
    if figure.canvas is None:
        sys.modules["matplotlib.backend_bases"].FigureCanvasBase(figure)
    target = io.BytesIO()
    if is_scaled(figure) or not _print_once(figure, target):
        _print(figure, target, _shown_dpi(figure))
    _shown.add(figure)
    return target.getvalue()


def is_scaled(figure):
    return _shown_dpi(figure) < figure.dpi


def draw_original(figure, target):
    """PNG, as large as the script has made the figure."""
    width, height = figure.get_size_inches()
    png = io.BytesIO()  # libraries may keep a file open whose writes fail
    _print(figure, png, min(figure.dpi, (_MOST_PIXELS / (width * height)) ** 0.5))
    target.write(png.getbuffer())


def _shown_dpi(figure):
    width, height = figure.get_size_inches()
    return min(figure.dpi, _WIDEST / width, _TALLEST / height)


def _print(figure, target, dpi):
    """Without empty borders: to find them, matplotlib draws the figure another time."""
    figure.canvas.print_figure(target, format="png", dpi=dpi, bbox_inches="tight", **_colors(figure))
    figure.stale = False


def _print_once(figure, target):
    """The same in one drawing, whose borders are cut off. Returns False if something is outside of the figure's area, or it has another
    canvas than that for pixels."""
    settings = sys.modules["matplotlib"].rcParams
    padding = settings["savefig.pad_inches"]
    if settings["savefig.bbox"] is not None or not isinstance(padding, (int, float)) or not hasattr(figure.canvas, "buffer_rgba"):
        return False
    dpi = figure.dpi
    figure.canvas.print_figure(io.BytesIO(), format="rgba", dpi=dpi, **_colors(figure))
    pixels = sys.modules["numpy"].asarray(figure.canvas.buffer_rgba())
    box = figure.get_tightbbox(figure.canvas.get_renderer())
    height, width, _ = pixels.shape
    if min(box.x0, box.y0) * dpi < -1 or box.x1 * dpi > width + 1 or box.y1 * dpi > height + 1:
        return False
    left, bottom = (max(0, math.floor((edge - padding) * dpi)) for edge in (box.x0, box.y0))
    right, top = (math.ceil((edge + padding) * dpi) for edge in (box.x1, box.y1))
    part = pixels[max(0, height - top) : height - bottom, left:right]
    sys.modules["PIL.Image"].fromarray(part).save(target, "PNG", dpi=(dpi, dpi))
    figure.stale = False
    return True


def _colors(figure):
    return {"facecolor": figure.get_facecolor(), "edgecolor": figure.get_edgecolor()}


def show_rest(show):
    """Shows the figures that are open and changed since they were last shown, and closes all."""
    pyplot, open_figures = sys.modules["matplotlib.pyplot"], sys.modules.get("matplotlib._pylab_helpers")
    managers = open_figures.Gcf.get_all_fig_managers() if open_figures is not None else ()
    if not managers or pyplot.get_backend() != f"module://{BACKEND}":
        return
    for manager in managers:
        figure = manager.canvas.figure
        if figure not in _shown or figure.stale:
            try:
                show(figure)
            except BaseException as error:
                print(f"Figure {manager.num} could not be drawn: {type(error).__name__}: {error}", file=sys.stderr)
    pyplot.close("all")


def show_all(show):
    """Shows all figures and closes them."""
    try:
        for manager in sys.modules["matplotlib._pylab_helpers"].Gcf.get_all_fig_managers():
            show(manager.canvas.figure)
    finally:
        sys.modules["matplotlib.pyplot"].close("all")


def make_backend(show):
    """The module of the backend."""
    from matplotlib import backend_bases
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    class FigureManager(backend_bases.FigureManagerBase):
        def show(self):
            show(self.canvas.figure)

    class FigureCanvas(FigureCanvasAgg):
        manager_class = FigureManager

    def new_figure_manager(number, *arguments, FigureClass=Figure, **options):
        return new_figure_manager_given_figure(number, FigureClass(*arguments, **options))

    def new_figure_manager_given_figure(number, figure):
        return FigureManager(FigureCanvas(figure), number)

    module = types.ModuleType(BACKEND)
    vars(module).update(
        FigureCanvas=FigureCanvas, FigureManager=FigureManager, show=lambda *arguments, **options: show_all(show), new_figure_manager=new_figure_manager,
        new_figure_manager_given_figure=new_figure_manager_given_figure, backend_version="1",
    )
    return module
