"""The data of simple matplotlib charts (lines, bars, points, pies), so that a reader need not measure the picture.

The form is that of other code interpreters: type, title, labels and scales of the axes, elements with their points or values.
"""

import math
import sys

from ..calls.contents import is_a

MEDIA_TYPE = "application/vnd.pungi.chart+json"
# Points and bars of one figure; more are thinned out.
_MOST_POINTS = 1000
_MOST_CHARTS, _MOST_ELEMENTS, _LONGEST = 16, 50, 200


def describe(figure):
    """None where the figure has something else than simple charts. Raises nothing."""
    try:
        charts = [chart for axes in figure.axes[:_MOST_CHARTS] if (chart := _describe_axes(axes)) is not None]
    except Exception:
        return None
    if len(charts) < 2:
        return charts[0] if charts else None
    return {"type": "superchart", "title": _text(getattr(figure, "_suptitle", None)), "elements": charts}


def _describe_axes(axes):
    if getattr(axes, "name", "rectilinear") != "rectilinear" or axes.images:
        return None
    wedges = [patch for patch in axes.patches if is_a(patch, "matplotlib.patches", "Wedge")]
    bars = [each for each in axes.containers if is_a(each, "matplotlib.container", "BarContainer")]
    points = [each for each in axes.collections if is_a(each, "matplotlib.collections", "PathCollection")]
    if wedges:
        return {"type": "pie", "title": axes.get_title() or None, "elements": _slices(axes, wedges)}
    if bars:
        kind, elements = "bar", _bars(axes, bars)
    elif axes.lines:
        kind, elements = "line", _series(axes.lines, lambda line: (line.get_xdata(), line.get_ydata()), getattr(axes, "freq", None))
    elif points:
        kind, elements = "scatter", _series(points, lambda each: each.get_offsets().T)
    else:
        return None
    return {"type": kind, "title": axes.get_title() or None, **_axis("x", axes.xaxis), **_axis("y", axes.yaxis), "elements": elements}


def _axis(name, axis):
    return {f"{name}_label": axis.get_label_text() or None, f"{name}_scale": axis.get_scale()}


def _series(artists, values_of, frequency=None):
    room = max(1, _MOST_POINTS // max(1, len(artists)))
    found = []
    for artist in artists[:_MOST_ELEMENTS]:
        xs, ys = values_of(artist)
        step = max(1, -(-len(xs) // room))
        points = [[_plain(x), _plain(y)] for x, y in zip(_periods(xs[::step], frequency), ys[::step])]
        found.append({"label": _label(artist), "points": points} | ({"total": len(xs)} if step > 1 else {}))
    return found


def _bars(axes, containers):
    found = []
    for container in containers[:_MOST_ELEMENTS]:
        is_horizontal = getattr(container, "orientation", "vertical") == "horizontal"
        names = _tick_labels(axes.yaxis if is_horizontal else axes.xaxis)
        for bar in container.patches[:_MOST_POINTS // len(containers[:_MOST_ELEMENTS])]:
            start, size, value = bar.get_x(), bar.get_width(), bar.get_height()
            if is_horizontal:
                start, size, value = bar.get_y(), bar.get_height(), bar.get_width()
            middle = start + size / 2
            label = _nearest(middle, names) or _plain(middle)
            found.append({"label": label, "group": _label(container), "value": _plain(value)})
    return found


def _tick_labels(axis):
    """(place, name) of ticks that have names."""
    categories = getattr(getattr(axis, "units", None), "_mapping", None)
    if categories:
        return [(place, str(name)[:_LONGEST]) for name, place in [*categories.items()][:_MOST_POINTS]]
    if not is_a(axis.get_major_locator(), "matplotlib.ticker", "FixedLocator"):
        return []
    names = [label.get_text()[:_LONGEST] for label in axis.get_ticklabels()]
    return list(zip(axis.get_ticklocs(), names))[:_MOST_POINTS]


def _nearest(place, names):
    """The name of the tick that a bar belongs to: bars of several groups stand around it."""
    if not names:
        return None
    places = sorted(each for each, _ in names)
    spacing = min((after - before for before, after in zip(places, places[1:])), default=1)
    nearest, name = min(names, key=lambda each: abs(each[0] - place))
    return name if abs(nearest - place) <= spacing / 2 else None


def _periods(values, frequency):
    """pandas draws dates as numbers of periods."""
    pandas = sys.modules.get("pandas")
    if frequency is None or pandas is None:
        return values
    return [str(pandas.Period(ordinal=int(value), freq=frequency)) for value in values]


def _slices(axes, wedges):
    total = sum(wedge.theta2 - wedge.theta1 for wedge in wedges) or 1
    return [
        {"label": wedge.get_label()[:_LONGEST], "share": _plain((wedge.theta2 - wedge.theta1) / total), "radius": _plain(wedge.r)}
        for wedge in wedges[:_MOST_ELEMENTS]
    ]


def _label(artist):
    label = str(artist.get_label())
    return None if label.startswith("_") else label[:_LONGEST]


def _text(artist):
    return artist.get_text()[:_LONGEST] or None if artist is not None else None


def _plain(value):
    """A number, or a text for dates and names; None for what is no number."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.datetime64):
        return str(value)
    if isinstance(value, str):
        return value[:_LONGEST]
    number = float(value)
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() and abs(number) < 1 << 53 else float(f"{number:.10g}")
