"""What an expression is worth, as far as that can be told without running anything. Constants are themselves."""


class _Unknown:
    def __repr__(self):
        return "UNKNOWN"


UNKNOWN = _Unknown()


class Reference:
    """Something imported or built in, by its full name, such as "pathlib.Path" or "int"."""

    def __init__(self, name):
        self.name = name


class Member:
    """An attribute of what is only known by how it was made."""

    def __init__(self, owner, name):
        self.owner, self.name = owner, name


class Made:
    """What a call would give: what is called with what, and where; `within`: the function that the call stands in."""

    def __init__(self, callee, args, kwargs, node):
        self.callee, self.args, self.kwargs, self.node = callee, args, kwargs, node
        self.attributes = {}
        self.within = None

    @property
    def line(self):
        return self.node.lineno

    def is_of(self, *names):
        return isinstance(self.callee, Reference) and self.callee.name in names


class Function:
    """Defined in the script: with what decorates it, and the scope around it."""

    def __init__(self, node, scope, decorators=(), bound=None):
        self.node, self.scope, self.decorators, self.bound = node, scope, decorators, bound


class Class:
    """Defined in the script; its methods by their names."""

    def __init__(self, node, bases, scope):
        self.node, self.bases, self.scope = node, bases, scope
        self.methods = {}

    def inherits(self, *names):
        return any(
            isinstance(base, Reference) and base.name in names or isinstance(base, Class) and base.inherits(*names)
            for base in self.bases
        )

    def method(self, name):
        if name in self.methods:
            return self.methods[name]
        found = (base.method(name) for base in self.bases if isinstance(base, Class))
        return next((method for method in found if method), None)


class EnumClass:
    def __init__(self, name, members):
        self.name, self.members = name, {key: EnumMember(self, key, value) for key, value in members.items()}

    @property
    def values(self):
        return [member.value for member in self.members.values()]


class EnumMember:
    def __init__(self, owner, name, value):
        self.owner, self.name, self.value = owner, name, value


PLAIN = (str, int, float, bool, type(None))
_LONGEST_TEXT = 20_000
_MOST_ITEMS = 2_000
# Beyond it, many readers of JSON round.
_LARGEST_NUMBER = 1 << 53
_TEXT_METHODS = {
    "strip", "lstrip", "rstrip", "lower", "upper", "title", "capitalize", "splitlines", "split", "rsplit", "partition",
    "rpartition", "removeprefix", "removesuffix", "casefold",
}


def is_plain(value):
    """Whether it can be written as JSON as it is: texts and numbers, and lists and maps of them, and not too many."""
    waiting, seen = [value], 0
    while waiting:
        value, seen = waiting.pop(), seen + 1
        if seen > _MOST_ITEMS:
            return False  # it may hold itself
        if isinstance(value, (list, tuple)):
            waiting.extend(value[:_MOST_ITEMS])
        elif isinstance(value, dict):
            if not all(isinstance(key, str) for key in value):
                return False
            waiting.extend(value.values())
        elif not isinstance(value, PLAIN) or isinstance(value, (int, float)) and not abs(value) <= _LARGEST_NUMBER:
            return False
    return True


def items_of(value):
    """What a loop over it would go through, or None."""
    if isinstance(value, EnumClass):
        return list(value.members.values())
    if isinstance(value, (list, tuple, dict, range)) and len(value) <= _MOST_ITEMS:
        return list(value)
    return list(value) if isinstance(value, str) and len(value) <= _MOST_ITEMS else None


def call_builtin(name, args):
    """A function of Python's own that only makes one constant of others."""
    if name in ("list", "tuple", "sorted", "set", "frozenset") and len(args) == 1:
        items = items_of(args[0])
        if items is None:
            return UNKNOWN
        if name == "sorted":
            return sorted(items) if all(isinstance(item, str) for item in items) or _are_numbers(items) else UNKNOWN
        return tuple(items) if name == "tuple" else items
    if name == "range" and 1 <= len(args) <= 3 and all(type(arg) is int for arg in args) and args[2:] != [0]:
        return range(*args)
    if name == "str" and len(args) == 1 and isinstance(args[0], (str, int, float)):
        return _attempt(lambda: str(args[0]))
    if name == "len" and len(args) == 1 and (items := items_of(args[0])) is not None:
        return len(items)
    return UNKNOWN


def _are_numbers(items):
    return all(isinstance(item, (int, float)) for item in items)


def call_method(owner, name, args):
    """A method of a constant that changes nothing."""
    if isinstance(owner, str):
        if name in _TEXT_METHODS and all(isinstance(arg, (str, int)) for arg in args) and len(owner) <= _LONGEST_TEXT:
            return _attempt(lambda: getattr(owner, name)(*args))
        if name == "join" and len(args) == 1:
            return join(owner, items_of(args[0]))
        if name == "format" and owner.count("{") == owner.count("{}"):
            return fill(owner, "{}", args)
    if isinstance(owner, dict) and not args and name in ("keys", "values", "items"):
        return list(getattr(owner, name)())
    if isinstance(owner, dict) and name == "get" and args and isinstance(args[0], PLAIN):
        return owner.get(*args[:2])
    if isinstance(owner, (list, dict)) and name == "copy":
        return owner.copy()
    return UNKNOWN


def join(separator, items):
    if items is None or not all(isinstance(item, str) for item in items):
        return UNKNOWN
    if sum(map(len, items)) + len(separator) * len(items) > _LONGEST_TEXT:
        return UNKNOWN
    return separator.join(items)


def fill(text, gap, values):
    """A template with its gaps filled in their order; no other rules of formatting are known."""
    pieces = text.split(gap)
    if len(pieces) != len(values) + 1 or not all(isinstance(value, (str, int, float)) for value in values):
        return UNKNOWN
    pairs = zip(values, pieces[1:])
    return _attempt(lambda: join("", [pieces[0], *(part for value, piece in pairs for part in (str(value), piece))]))


def add(left, right):
    if isinstance(left, str) and isinstance(right, str):
        return join("", [left, right])
    if isinstance(left, (list, tuple)) and type(left) is type(right):
        return joined(left, right)
    if _are_numbers([left, right]):
        return _attempt(lambda: left + right)
    return UNKNOWN


def joined(left, right):
    """A list with more at its end; where that is not known, or too much, there is something unknown."""
    more = right if right is not None and len(left) + len(right) <= _MOST_ITEMS else type(left)([UNKNOWN])
    return left + more


def arithmetic(sign, left, right):
    """The sums that people write instead of their result, such as 60 * 60 or 1 << 20."""
    if not _are_numbers([left, right]) or max(abs(left), abs(right)) > 1e15:
        return UNKNOWN
    if sign == "Mult":
        return left * right
    if sign == "Sub":
        return left - right
    if sign == "Div":
        return _attempt(lambda: left / right)
    if sign == "FloorDiv":
        return _attempt(lambda: left // right)
    if sign == "LShift" and type(left) is type(right) is int and 0 <= right <= 53:
        return left << right
    if sign == "Pow" and type(left) is type(right) is int and 0 <= right <= 64 and abs(left) <= 1024:
        return left**right
    return UNKNOWN


def pick(owner, key):
    if isinstance(owner, EnumClass):
        return owner.members.get(key, UNKNOWN) if isinstance(key, str) else UNKNOWN
    if isinstance(owner, (str, list, tuple, dict)) and isinstance(key, PLAIN):
        return _attempt(lambda: owner[key])
    return UNKNOWN


def _attempt(compute):
    try:
        return compute()
    except (TypeError, ValueError, LookupError, ArithmeticError):
        return UNKNOWN
