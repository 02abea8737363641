"""What a name at the top of a script stands for: an import, a class, an alias, a constant."""

import ast
import sys

from .top_level import is_main_guard

# Other spellings of what typing has; collections.abc and typing mean the same to a schema.
_SAME_MODULE = {"typing_extensions": "typing", "collections.abc": "typing", "_collections_abc": "typing", "asyncclick": "click"}
_STAR_NAMES = {
    "typing": (
        "AbstractSet", "Annotated", "Any", "AnyStr", "AsyncGenerator", "AsyncIterable", "AsyncIterator", "Awaitable",
        "BinaryIO",
        "Callable", "ClassVar", "Collection", "Container", "Coroutine", "Counter", "DefaultDict", "Deque", "Dict", "Final",
        "FrozenSet", "Generator", "Generic", "Hashable", "IO", "Iterable", "Iterator", "List", "Literal", "Mapping",
        "MutableMapping", "MutableSequence", "MutableSet", "NamedTuple", "NewType", "NoReturn", "NotRequired", "Optional",
        "OrderedDict", "Pattern", "Protocol", "Required", "Reversible", "Sequence", "Set", "SupportsFloat", "SupportsInt",
        "Text",
        "TextIO", "Tuple", "Type", "TypeAlias", "TypeVar", "TypedDict", "Union", "overload",
    ),
    "datetime": ("date", "datetime", "time", "timedelta"),
    "enum": ("Enum", "Flag", "IntEnum", "IntFlag", "StrEnum", "auto"),
    "dataclasses": ("dataclass", "field"),
    "pydantic": ("BaseModel", "Field"),
    "pathlib": ("Path", "PurePath"),
    "decimal": ("Decimal",),
}
_BUILTINS = {
    "int", "float", "bool", "str", "bytes", "bytearray", "complex", "list", "tuple", "set", "frozenset", "dict", "object",
    "type", "range", "slice", "memoryview", "property", "None", "Ellipsis", "callable",
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Newer than the oldest Python that must read this.
TYPE_ALIAS = getattr(ast, "TypeAlias", ())


class Outside:
    """Imported, or of the builtins: known by its full name alone."""

    def __init__(self, name):
        self.name = name

    @property
    def is_standard(self):
        return self.name.partition(".")[0] in sys.stdlib_module_names or self.name.startswith("builtins.")


class Inside:
    """Defined in the script: a class, a function, a `type` statement, or the value that a name was given."""

    def __init__(self, name, node):
        self.name, self.node = name, node


class Names:
    def __init__(self, tree):
        self._meanings = {}
        self._assigned_twice = set()
        self.enums = {}  # what classes_enums has found already
        self._bind_all(tree.body, is_certain=True)

    def get(self, name):
        """What a bare name means, or None."""
        if name in self._meanings:
            return self._meanings[name]
        if "." in name:
            return Outside(name)  # made by `outside`
        return Outside(f"builtins.{name}") if name in _BUILTINS else None

    def resolve(self, node):
        """What a name or a dotted name means; None: nothing that is known."""
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        meaning = self.get(node.id)
        for part in reversed(parts):
            meaning = _member(meaning, part)
        return meaning

    def outside_name(self, node):
        """The full name of what is imported or built in; an empty text for all else."""
        if isinstance(node, ast.Call):
            node = node.func
        meaning = self.resolve(node)
        return meaning.name if isinstance(meaning, Outside) else ""

    def constant(self, name):
        """The value's syntax of a name that is given one exactly once."""
        meaning = self._meanings.get(name)
        is_value = isinstance(meaning, Inside) and isinstance(meaning.node, ast.expr) and name not in self._assigned_twice
        return meaning.node if is_value else None

    def imports(self, *roots):
        return any(isinstance(each, Outside) and each.name.partition(".")[0] in roots for each in self._meanings.values())

    def _bind(self, name, meaning, is_certain):
        if name in self._meanings:
            self._assigned_twice.add(name)
        # The way that is taken only if something fails explains a name worse than the one before it.
        if is_certain or name not in self._meanings:
            self._meanings[name] = meaning

    def _bind_all(self, statements, is_certain):
        for statement in statements:
            self._bind_statement(statement, is_certain)

    def _bind_statement(self, statement, is_certain):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            self._bind_import(statement, is_certain)
        elif isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            self._bind(statement.name, Inside(statement.name, statement), is_certain)
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    self._bind(target.id, Inside(target.id, statement.value), is_certain)
        elif isinstance(statement, ast.AnnAssign):
            if isinstance(statement.target, ast.Name) and statement.value is not None:
                self._bind(statement.target.id, Inside(statement.target.id, statement.value), is_certain)
        elif isinstance(statement, ast.AugAssign):
            if isinstance(statement.target, ast.Name):
                self._assigned_twice.add(statement.target.id)
        elif TYPE_ALIAS and isinstance(statement, TYPE_ALIAS):
            self._bind(statement.name.id, Inside(statement.name.id, statement), is_certain)
        elif is_main_guard(statement):
            pass  # a script that is called as a module never gets there
        elif isinstance(statement, (ast.If, ast.Try, ast.With, getattr(ast, "TryStar", ast.Try))):
            self._bind_all(statement.body, is_certain)
            for handler in getattr(statement, "handlers", ()):
                self._bind_all(handler.body, is_certain=False)
            self._bind_all(getattr(statement, "orelse", ()), is_certain=isinstance(statement, ast.Try))
            self._bind_all(getattr(statement, "finalbody", ()), is_certain)

    def _bind_import(self, statement, is_certain):
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                bound = alias.asname or alias.name.partition(".")[0]
                self._bind(bound, Outside(alias.name if alias.asname else bound), is_certain)
            return
        module = "." * statement.level + (statement.module or "")
        for alias in statement.names:
            if alias.name == "*":
                for name in _STAR_NAMES.get(_canonical(module), ()):
                    self._bind(name, Outside(f"{_canonical(module)}.{name}"), is_certain)
            else:
                self._bind(alias.asname or alias.name, Outside(_canonical(f"{module}.{alias.name}")), is_certain)


def outside(full_name):
    """Syntax for something by its full name, whatever the script has imported: no name in a script has a dot in it."""
    return ast.Name(id=full_name, ctx=ast.Load())


def _member(meaning, name):
    if isinstance(meaning, Outside):
        return Outside(_canonical(f"{meaning.name}.{name}"))
    if isinstance(meaning, Inside) and isinstance(meaning.node, ast.ClassDef):
        for statement in meaning.node.body:
            if isinstance(statement, ast.ClassDef) and statement.name == name:
                return Inside(f"{meaning.name}.{name}", statement)
    return None


def _canonical(name):
    for module, same in _SAME_MODULE.items():
        if name == module or name.startswith(module + "."):
            return same + name[len(module) :]
    return name
