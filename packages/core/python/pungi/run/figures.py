"""Pictures of matplotlib's figures, and the backend that shows them. matplotlib is used where a script has loaded it."""

import io
import sys
import types
import weakref

from ..calls.contents import is_a

# A wider picture is no clearer to those who get it, and takes more of the room for pictures.
_WIDEST, _TALLEST = 1000, 1500
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
    width, height = figure.get_size_inches()
    dpi = min(figure.dpi, _WIDEST / width, _TALLEST / height)
    target = io.BytesIO()
    colors = {"facecolor": figure.get_facecolor(), "edgecolor": figure.get_edgecolor()}
    figure.canvas.print_figure(target, format="png", dpi=dpi, bbox_inches="tight", **colors)
    figure.stale = False
    _shown.add(figure)
    return target.getvalue()


def show_rest(show):
    """Shows the figures that are open and changed since they were last shown, and closes all."""
    pyplot, open_figures = sys.modules["matplotlib.pyplot"], sys.modules.get("matplotlib._pylab_helpers")
    if open_figures is None or pyplot.get_backend() != f"module://{BACKEND}":
        return
    managers = open_figures.Gcf.get_all_fig_managers()
    for manager in managers:
        figure = manager.canvas.figure
        if figure not in _shown or figure.stale:
            try:
                show(figure)
            except BaseException as error:
                print(f"Figure {manager.num} could not be drawn: {type(error).__name__}: {error}", file=sys.stderr)
    if managers:
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
