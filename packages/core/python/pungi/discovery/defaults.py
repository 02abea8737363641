"""The value of an expression in a script as JSON, where reading suffices to know it."""

import ast
import datetime
import math
import operator

from . import classes_enums
from .names import Inside

_MAX_DEPTH = 40
_MAX_STEPS = 2000
_MAX_ITEMS = 200
_MAX_TEXT = 4000
_LARGEST = 10**18

_OPERATIONS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.BitOr: operator.or_, ast.LShift: operator.lshift,
}
_SIGNS = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert, ast.Not: operator.not_}
_DATES = {"datetime.date": datetime.date, "datetime.datetime": datetime.datetime, "datetime.time": datetime.time}
# What is built from one text and is written as that text.
_FROM_TEXT = {
    "pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "pathlib.PurePosixPath", "uuid.UUID", "decimal.Decimal",
    "ipaddress.ip_address", "ipaddress.IPv4Address", "ipaddress.IPv6Address", "ipaddress.ip_network", "builtins.str",
}
_EMPTY = {
    "builtins.list": list, "builtins.dict": dict, "builtins.set": list, "builtins.tuple": list, "builtins.frozenset": list,
}
_KNOWN = {"math.pi": math.pi, "math.e": math.e, "math.tau": math.tau}


class Unknown(Exception):
    """Only running the script would tell, or JSON has nothing like it."""


def evaluate(node, names):
    """Raises Unknown. What it gives back can be written as JSON."""
    value = _Evaluation(names).value(node, 0)
    _check_json(value)
    return value


def _check_json(value):
    if isinstance(value, float) and not math.isfinite(value):
        raise Unknown
    if isinstance(value, (list, tuple)):
        for item in value:
            _check_json(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise Unknown
            _check_json(item)


class _Evaluation:
    def __init__(self, names):
        self._names = names
        self._steps = 0

    def value(self, node, depth):
        self._steps += 1
        if depth > _MAX_DEPTH or self._steps > _MAX_STEPS:
            raise Unknown
        read = getattr(self, f"_{type(node).__name__.lower()}", None)
        if read is None:
            raise Unknown
        return read(node, depth + 1)

    def _constant(self, node, _):
        value = node.value
        if isinstance(value, bytes):
            try:
                value = value.decode("utf-8")
            except UnicodeDecodeError:
                raise Unknown from None
        if isinstance(value, str) and not _is_text(value):
            raise Unknown
        if value is Ellipsis or isinstance(value, complex) or (isinstance(value, int) and abs(value) > _LARGEST):
            raise Unknown
        return value

    def _unaryop(self, node, depth):
        value = self.value(node.operand, depth)
        if not isinstance(value, (bool, int, float)):
            raise Unknown
        return _SIGNS[type(node.op)](value)

    def _binop(self, node, depth):
        operate = _OPERATIONS.get(type(node.op))
        left, right = self.value(node.left, depth), self.value(node.right, depth)
        both_texts = isinstance(left, str) and isinstance(right, str) and isinstance(node.op, ast.Add)
        both_numbers = isinstance(left, (int, float)) and isinstance(right, (int, float))
        if operate is None and isinstance(node.op, ast.Pow) and both_numbers and abs(left) <= 1024 and abs(right) <= 64:
            operate = operator.pow
        if operate is None or not (both_texts or both_numbers) or (isinstance(node.op, ast.LShift) and right > 64):
            raise Unknown
        try:
            result = operate(left, right)
        except (ArithmeticError, TypeError, ValueError):
            raise Unknown from None
        if isinstance(result, str) and len(result) > _MAX_TEXT:
            raise Unknown
        if not isinstance(result, str) and (isinstance(result, complex) or abs(result) > _LARGEST):
            raise Unknown
        return result

    def _list(self, node, depth):
        if len(node.elts) > _MAX_ITEMS:
            raise Unknown
        return [self.value(item, depth) for item in node.elts]

    _tuple = _set = _list

    def _dict(self, node, depth):
        if len(node.keys) > _MAX_ITEMS or None in node.keys:
            raise Unknown
        pairs = [(self.value(key, depth), self.value(item, depth)) for key, item in zip(node.keys, node.values)]
        if any(isinstance(key, (list, dict)) for key, _ in pairs):
            raise Unknown
        return dict(pairs)

    def _name(self, node, depth):
        constant = self._names.constant(node.id)
        if constant is None:
            raise Unknown
        return self.value(constant, depth)

    def _attribute(self, node, depth):
        name = self._names.outside_name(node)
        if name in _KNOWN:
            return _KNOWN[name]
        if node.attr == "value":  # Color.RED.value
            return self.value(node.value, depth)
        owner = self._names.resolve(node.value)
        if isinstance(owner, Inside) and isinstance(owner.node, ast.ClassDef):
            return self._of_class(owner.node, node.attr, depth)
        raise Unknown

    def _of_class(self, definition, name, depth):
        members = classes_enums.enum_members(definition, self._names)
        if name in members:
            if members[name] is classes_enums.UNKNOWN_VALUE:
                raise Unknown
            return members[name]
        for statement in definition.body:
            targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets) and statement.value is not None:
                return self.value(statement.value, depth)
        raise Unknown

    def _call(self, node, depth):
        name = self._names.outside_name(node.func)
        meaning = self._names.resolve(node.func)
        arguments = [self.value(item, depth) for item in node.args]
        keywords = {item.arg: self.value(item.value, depth) for item in node.keywords if item.arg}
        if any(item.arg is None for item in node.keywords):
            raise Unknown
        if name in _FROM_TEXT and arguments and not keywords and all(isinstance(item, str) for item in arguments):
            return "/".join(arguments) if name.startswith("pathlib.") else arguments[0]
        if name in _EMPTY and not arguments and (not keywords or name == "builtins.dict"):
            return keywords if name == "builtins.dict" else _EMPTY[name]()
        if name in _EMPTY and len(arguments) == 1 and isinstance(arguments[0], list) and name != "builtins.dict":
            return arguments[0]
        if name in ("pathlib.Path", "pathlib.PurePath") and not arguments and not keywords:
            return "."
        try:
            if name in _DATES:
                return _DATES[name](*arguments, **keywords).isoformat()
            if name == "datetime.timedelta":
                return iso_duration(datetime.timedelta(*arguments, **keywords))
            if name in ("builtins.int", "builtins.float") and len(arguments) == 1:
                return (int if name == "builtins.int" else float)(arguments[0])
        except (TypeError, ValueError, OverflowError):
            raise Unknown from None
        if isinstance(meaning, Inside) and isinstance(meaning.node, ast.ClassDef) and len(arguments) == 1 and not keywords:
            return self._of_enum(meaning.node, arguments[0])
        if isinstance(meaning, Inside) and self._names.outside_name(meaning.node) == "typing.NewType" and len(arguments) == 1:
            return arguments[0]
        raise Unknown

    def _of_enum(self, definition, value):
        """Color("red") is written as "red"."""
        if value not in list(classes_enums.enum_members(definition, self._names).values()):
            raise Unknown
        return value


def _is_text(value):
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return len(value) <= _MAX_TEXT


def iso_duration(delta):
    """As "P1DT2H" and the like, which is what a schema's format "duration" wants."""
    sign = "-" if delta < datetime.timedelta(0) else ""
    delta = abs(delta)
    hours, rest = divmod(delta.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    exact = f"{seconds}.{delta.microseconds:06d}".rstrip("0") if delta.microseconds else str(seconds)
    clock = "".join((f"{hours}H" if hours else "", f"{minutes}M" if minutes else "", f"{exact}S" if exact != "0" else ""))
    days = f"{delta.days}D" if delta.days else ""
    return f"{sign}P{days}{'T' + clock if clock else ''}" if days or clock else "PT0S"


def evaluate_or(node, names, otherwise=None):
    """For what may be absent (None) or unknown."""
    if node is None:
        return otherwise
    try:
        return evaluate(node, names)
    except Unknown:
        return otherwise
