"""Summarizes what a script does, from its syntax tree, as data and as a sentence."""

import ast

from .scope_bindings import assigned_values, constants_by_name
from .scope_constants import fold_text
from .scope_reading import deep_recursion

_MAX_NAMES = 50
_MAX_TEXT = 200
_READERS = {
    "read_csv", "read_table", "read_excel", "read_parquet", "read_json", "read_pickle", "read_feather", "read_html", "read_xml",
    "read_hdf", "read_orc", "read_stata", "read_sas", "read_spss", "read_fwf", "read_text", "read_bytes", "loadtxt", "genfromtxt",
    "fromfile", "imread",
}
_WRITERS = {
    "to_csv", "to_excel", "to_parquet", "to_json", "to_pickle", "to_feather", "to_html", "to_xml", "to_hdf", "to_orc", "to_stata",
    "to_latex", "to_markdown", "write_text", "write_bytes", "savefig", "savetxt", "savez", "savez_compressed", "tofile",
    "write_html", "write_image", "ExcelWriter",
}
# Short names that mean files only for numpy.
_NUMPY_READERS, _NUMPY_WRITERS = {"load"}, {"save"}
_PLOTTERS = {"matplotlib", "seaborn", "plotly", "bokeh", "altair"}
_PLOT_METHODS = {"plot", "hist", "boxplot", "scatter", "savefig"}
_FRAME_MAKERS = {"DataFrame", "Series"}
_FRAME_METHODS = {"groupby", "pivot_table", "merge", "iterrows", "value_counts"}
_PATH_ARGUMENTS = {"filepath_or_buffer", "path_or_buf", "io", "path", "excel_writer", "fname", "file", "filename", "buf"}


def summarize(source, provided=()):
    """Returns what it imports, reads, writes and plots, and its functions; only the lines if it does not parse.

    `provided`: "module" or "module as name", imported by the profile; those that the script uses count as its
    imports.
    """
    lines = len(source.splitlines())
    try:
        tree = compile(source, "main.py", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        with deep_recursion():
            summary = _Summary(tree, provided)
            summary.visit(tree)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return _EMPTY | {"lines": lines, "text": f"Text of {_count(lines, 'line')} that is not Python."}
    facts = {
        "imports": _listed(summary.imports),
        "reads": _listed(summary.reads),
        "writes": _listed(summary.writes),
        "plots": summary.plots,
        "dataFrames": summary.has_frames,
        "functions": _listed(summary.functions),
        "lines": lines,
    }
    return facts | {"text": _describe(facts, summary)}


_EMPTY = {"imports": [], "reads": [], "writes": [], "plots": False, "dataFrames": False, "functions": []}


class _Summary(ast.NodeVisitor):
    def __init__(self, tree, provided=()):
        self.imports, self.reads, self.writes, self.functions = {}, {}, {}, {}
        self.plots = self.has_frames = self.reads_unnamed = self.writes_unnamed = False
        self._known = constants_by_name(assigned_values(tree))
        self._provided = dict(_name_and_module(text) for text in provided)
        self._numpy = {"numpy", *(name for name, module in self._provided.items() if module == "numpy")}

    def visit_Name(self, node):
        if node.id in self._provided and isinstance(node.ctx, ast.Load):
            self._add_import(self._provided[node.id])

    def visit_Import(self, node):
        for alias in node.names:
            self._add_import(alias.name)
            if alias.name == "numpy":
                self._numpy.add(alias.asname or "numpy")

    def visit_ImportFrom(self, node):
        self._add_import("." * node.level + (node.module or ""))

    def _add_import(self, name):
        self.imports[name] = True
        self.plots = self.plots or name.partition(".")[0] in _PLOTTERS

    def visit_FunctionDef(self, node):
        self.functions[node.name] = True
        self.generic_visit(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Call(self, node):
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", None)
        is_method = isinstance(node.func, ast.Attribute)
        on_numpy = is_method and isinstance(node.func.value, ast.Name) and node.func.value.id in self._numpy
        self.has_frames = self.has_frames or name in _FRAME_MAKERS or (is_method and name in _FRAME_METHODS)
        self.plots = self.plots or (is_method and name in _PLOT_METHODS)
        if name in _READERS or (on_numpy and name in _NUMPY_READERS):
            self._add_file(node, is_write=False)
            self.has_frames = self.has_frames or (name.startswith("read_") and name not in ("read_text", "read_bytes"))
        elif name in _WRITERS or (on_numpy and name in _NUMPY_WRITERS):
            self._add_file(node, is_write=True)
        elif name == "open":
            self._add_opened(node, is_method)
        self.generic_visit(node)

    def visit_Attribute(self, node):
        # df.plot.bar(…) calls bar.
        self.plots = self.plots or (node.attr == "plot" and isinstance(node.ctx, ast.Load))
        self.generic_visit(node)

    def _add_file(self, node, is_write):
        named = next((keyword.value for keyword in node.keywords if keyword.arg in _PATH_ARGUMENTS), None)
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        # Path("x").read_text() names its file before the dot.
        place = owner if _is_path_call(owner) else node.args[0] if node.args else named
        self._add_path(place, is_write)

    def _add_opened(self, node, is_method):
        """Handles open(path, mode) and Path(path).open(mode)."""
        place = node.func.value if is_method else (node.args[0] if node.args else None)
        if is_method and not _is_path_call(place):
            return  # another object's open
        modes = [*node.args[0 if is_method else 1 :][:1], *(keyword.value for keyword in node.keywords if keyword.arg == "mode")]
        mode = (fold_text(modes[0], self._known) if modes else None) or "r"
        self._add_path(place, any(letter in mode for letter in "wax+"))

    def _add_path(self, node, is_write):
        if _is_path_call(node):
            node = node.args[0]
        text = fold_text(node, self._known) if node is not None else None
        if text is not None:
            (self.writes if is_write else self.reads)[text[:_MAX_TEXT]] = True
        elif node is not None and is_write:
            self.writes_unnamed = True
        elif node is not None:
            self.reads_unnamed = True


def _name_and_module(text):
    module, _, name = text.partition(" as ")
    return name or module.partition(".")[0], module


def _is_path_call(node):
    name = getattr(getattr(node, "func", None), "id", None) or getattr(getattr(node, "func", None), "attr", None)
    return isinstance(node, ast.Call) and name in ("Path", "PurePath", "PosixPath") and len(node.args) == 1


def _listed(names):
    return [name[:_MAX_TEXT] for name in list(names)[:_MAX_NAMES]]


def _describe(facts, summary):
    parts = []
    if facts["imports"]:
        parts.append(f"uses {_join(facts['imports'])}")
    if facts["reads"] or summary.reads_unnamed:
        parts.append(f"reads {_join(facts['reads']) or 'files named while it runs'}")
    if facts["dataFrames"]:
        parts.append("works with data frames")
    if facts["plots"]:
        parts.append("draws plots")
    if facts["writes"] or summary.writes_unnamed:
        parts.append(f"writes {_join(facts['writes']) or 'files named while it runs'}")
    if facts["functions"]:
        parts.append(f"defines {_join(facts['functions'])}")
    size = f"Python code of {_count(facts['lines'], 'line')}"
    return f"{size} that {_join(parts, limit=10)}." if parts else f"{size}."


def _join(names, limit=5):
    shown = [*names[:limit], *([f"{len(names) - limit} more"] if len(names) > limit else [])]
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1]))) if shown else ""


def _count(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"
