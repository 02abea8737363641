"""Uses a large package a little, as runs do, before a run waits for it.

Packages load parts of themselves, fill caches and write to their own memory when they are first used. The fork server does
all of it once, so that no worker has to. A parked worker does the part that nearly every use has, so that the pages which it
writes to are its own already; more would be memory that lies parked. If runs are sure to use a package, since their profile or
their script brings it, a worker does all of it, too. Nothing that a run could notice may stay behind.
"""

import sys

_FRAME = """
import pandas
table = pandas.DataFrame({"name": ["x", "y", "x"], "value": [1.0, 2.0, 3.0]})
table.to_string()
"""

_ANALYSIS = _FRAME + """
groups = table.groupby("name").agg(total=("value", "sum"), spread=("value", "std"))
groups["share"] = groups["total"] / groups["total"].sum()
groups.sort_values("share", ascending=False).round(1).to_string()
table[table["value"] > 1].merge(table, on="name").describe().to_string()
"""

_ARRAY = """
import numpy
values = numpy.arange(10.0)
f"{numpy.percentile(values, 90)} {values.mean()} {values.std()} {numpy.round(values, 1)}"
"""

_FIGURE = """
import io
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
figure = Figure()
FigureCanvasAgg(figure)
figure.subplots().plot([1, 2])
figure.savefig(io.BytesIO(), format="png", bbox_inches="tight")
"""

# A class has reference cycles; until they are collected, everybody finds it among the subclasses of object.
_RECORD = """
import dataclasses, gc
@dataclasses.dataclass
class Record:
    name: str
    value: float = 0.0
repr(Record("x"))
del Record
gc.collect()
"""


def _compiled(**exercises):
    return {name: compile(source, "<exercise>", "exec") for name, source in exercises.items()}


_IN_FORK_SERVER = _compiled(dataclasses=_RECORD, numpy=_ARRAY, pandas=_ANALYSIS) | _compiled(**{"matplotlib.pyplot": _FIGURE})
_in_worker = _compiled(pandas=_FRAME)


def go_through(surely_used=()):
    """In the fork server, for itself and for its workers."""
    _use(_IN_FORK_SERVER)
    _in_worker.update((name, _IN_FORK_SERVER[name]) for name in surely_used if name in _IN_FORK_SERVER)


def repeat():
    """In a worker."""
    _use(_in_worker)


def _use(exercises):
    """Exercises the packages that are loaded. A failure is ignored here: the package raises it again when a run uses it."""
    for name, exercise in exercises.items():
        if name in sys.modules:
            try:
                exec(exercise, {"__name__": "exercise"})
            except Exception:
                pass
