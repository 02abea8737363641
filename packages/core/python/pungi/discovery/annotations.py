"""A type annotation, as syntax, becomes JSON Schema."""

import ast

from . import classes
from .annotations_containers import read_container
from .annotations_known import (
    AWAITABLES, CONSTRAINED, LISTS, NO_RESULT, PLAIN, PLAIN_RESULT, SETS, WRAPPERS, NotJson, cannot_be_json, is_picture,
)
from .annotations_definitions import size_of
from .annotations_literals import read_literal
from .annotations_metadata import Metadata, constrain
from .annotations_variables import Variables
from .names import TYPE_ALIAS, Inside, Outside

_MAX_DEPTH = 60
_MAX_STEPS = 4000
_MAX_TEXT = 80
_MAX_SENTENCE = 300
# An alias of this many parts is written once: aliases of aliases would grow without end.
_LARGE = 40


class _TooLarge(Exception):
    pass


class TypeReader:
    """Reads the annotations of one function. `doubts`: what it could not know, as sentences; `definitions`: for $defs."""

    def __init__(self, names, is_result=False):
        self.names, self.is_result = names, is_result
        self.definitions, self.doubts = {}, []
        self.has_pictures = False
        self.variables = Variables(names)
        self._depth = self._steps = self._containers = 0
        self._under_way, self._refused = {}, {}
        self._referred = set()

    def read_whole(self, node):
        """The schema of a whole annotation; an empty one where anything goes. Raises NotJson."""
        self._steps = 0
        try:
            return self.read(node)
        except _TooLarge:
            return self.doubt("The type is too large to be read")

    def read(self, node):
        """The schema of a part of it."""
        self._depth += 1
        self._steps += 1
        try:
            if self._depth > _MAX_DEPTH or self._steps > _MAX_STEPS:
                raise _TooLarge
            return self._read(node)
        finally:
            self._depth -= 1

    def inner(self, node):
        """What stands inside of an array or object, where a type may come back to itself."""
        self._containers += 1
        try:
            return self.read(node)
        finally:
            self._containers -= 1

    def doubt(self, sentence):
        sentence = sentence[:_MAX_SENTENCE]
        if sentence not in self.doubts:
            self.doubts.append(sentence)
        return {}

    def named(self, key, build):
        """The schema of a class or alias, which may contain itself: then it is written once, below $defs."""
        if key in self.definitions:
            return {"$ref": f"#/$defs/{key}"}
        if key in self._under_way:
            if self._under_way[key] == self._containers:
                return self.doubt(f"{key} is defined by nothing but itself")
            self._referred.add(key)
            return {"$ref": f"#/$defs/{key}"}
        if key in self._refused:
            raise NotJson(self._refused[key])
        self._under_way[key] = self._containers
        try:
            schema = build()
        except NotJson as error:
            self._refused[key] = str(error)
            raise
        finally:
            del self._under_way[key]
        is_shared = "properties" in schema or "enum" in schema or size_of(schema) > _LARGE
        if not is_shared and key not in self._referred:
            return schema
        self.definitions[key] = schema
        return {"$ref": f"#/$defs/{key}"}

    def key(self, name, arguments):
        """By which a class or alias is known below $defs: Box[int] is another one than Box[str]."""
        inner = "_".join(self.variables.replaced(text_of(each)) for each in arguments)
        return name + "".join(letter if letter.isalnum() else "_" for letter in f"[{inner}]") if arguments else name

    def _read(self, node):
        if isinstance(node, ast.Constant):
            return self._read_constant(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self.union(_alternatives(node))
        if isinstance(node, ast.Subscript):
            return self._read_subscript(node)
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self._read_name(node)
        if isinstance(node, ast.Call):
            return self._read_call(node)
        return self.doubt(f'"{text_of(node)}" is no type that reading alone can know')

    def _read_constant(self, node):
        if node.value is None:
            return {"type": "null"}
        if not isinstance(node.value, str):
            return self.doubt(f'"{text_of(node)}" is no type')
        try:
            inner = ast.parse(node.value.strip(), mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return self.doubt(f'"{node.value[:_MAX_TEXT]}" is no type')
        return self.read(inner)

    def _read_name(self, node):
        if isinstance(node, ast.Name) and self.variables.binds(node.id):
            with self.variables.outer(node.id) as bound:
                return self.read(bound)
        meaning = self.names.resolve(node)
        if isinstance(meaning, Outside):
            return self._read_outside(meaning, ())
        if isinstance(meaning, Inside):
            return self._read_inside(meaning, ())
        return self.doubt(f"{text_of(node)} is defined nowhere that can be read")

    def _read_subscript(self, node):
        arguments = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        meaning = self.names.resolve(node.value)
        if isinstance(meaning, Outside):
            is_empty_tuple = isinstance(node.slice, ast.Tuple) and not arguments
            return self._read_outside(meaning, arguments, is_empty_tuple)
        if isinstance(meaning, Inside):
            return self._read_inside(meaning, arguments)
        return self.doubt(f"{text_of(node)} is defined nowhere that can be read")

    def _read_outside(self, meaning, arguments, is_empty_tuple=False):
        name = meaning.name
        self.has_pictures = self.has_pictures or is_picture(name) or PLAIN.get(name, {}).get("format") == "binary"
        if self.is_result and name in NO_RESULT:
            raise NotJson(f"A {name} has no place in a result")
        if self.is_result and name in PLAIN_RESULT:
            return dict(PLAIN_RESULT[name])
        if name in PLAIN:
            return dict(PLAIN[name])
        container = read_container(self, name, arguments, is_empty_tuple)
        if container is not None:
            return container
        if name in ("typing.Union", "typing.Optional"):
            return self.union([*arguments, ast.Constant(None)] if name == "typing.Optional" else arguments)
        if name == "typing.Literal":
            return read_literal(self, arguments)
        if name == "typing.Annotated" and arguments:
            return self.annotated(arguments)
        if name in WRAPPERS:
            return self.read(arguments[0]) if arguments else {}
        if name == "pydantic.Json":
            return {"type": "string", "contentMediaType": "application/json"}
        if name in AWAITABLES and self.is_result and len(arguments) > AWAITABLES[name]:
            return self.read(arguments[AWAITABLES[name]])
        return self._read_foreign(meaning)

    def _read_foreign(self, meaning):
        shown = meaning.name.removeprefix("builtins.")
        if cannot_be_json(meaning.name, meaning.is_standard):
            raise NotJson(f"JSON can bring no {shown}")
        return self.doubt(f"{shown} comes from another module, which reading alone cannot know")

    def _read_inside(self, meaning, arguments):
        node = meaning.node
        if isinstance(node, ast.ClassDef):
            return classes.read_class(self, meaning, arguments)
        if TYPE_ALIAS and isinstance(node, TYPE_ALIAS):
            return self._read_alias(meaning, node.value, node.type_params, arguments)
        if not isinstance(node, ast.expr):
            return self.doubt(f"{meaning.name} is no type")
        maker = self.names.outside_name(node) if isinstance(node, ast.Call) else ""
        if maker == "typing.NewType" and len(node.args) == 2:
            return self.named(meaning.name, lambda: self.read(node.args[1]))
        if maker in ("typing.TypeVar", "typing.ParamSpec", "typing.TypeVarTuple"):
            return self.variables.read_unbound(self, node)
        if maker == "typing.TypeAliasType" and len(node.args) >= 2:
            return self._read_alias(meaning, node.args[1], (), arguments)
        if isinstance(node, ast.Call) and classes.is_made_by_call(self.names, node):
            return classes.read_made(self, meaning)
        if isinstance(node, ast.Constant) and not isinstance(node.value, (str, type(None))):
            return self.doubt(f"{meaning.name} is no type")
        return self._read_alias(meaning, node, (), arguments)

    def _read_alias(self, meaning, value, parameters, arguments):
        key = self.key(meaning.name, arguments)
        parameters = self.variables.parameters_of(value, parameters) if parameters or arguments else ()
        with self.variables.bound(parameters, arguments):
            return self.named(key, lambda: self.read(value))

    def _read_call(self, node):
        """conint(gt=0) and its kind."""
        name = self.names.outside_name(node.func)
        metadata = Metadata()
        metadata.read_constraints(node, self.names)
        if name in CONSTRAINED:
            return constrain(dict(CONSTRAINED[name]), metadata.constraints)
        if name in LISTS | SETS and node.args:
            return constrain(self._read_outside(Outside(name), node.args[:1]), metadata.constraints)
        return self.doubt(f'"{text_of(node)}" is no type that reading alone can know')

    def annotated(self, arguments):
        metadata = Metadata()
        for each in arguments[1:]:
            metadata.read(each, self.names)
        return metadata.apply(self.read(arguments[0]))

    def union(self, alternatives):
        """What JSON cannot bring is left out as long as something else remains."""
        schemas, reasons = [], []
        for each in alternatives:
            try:
                schema = self.read(each)
            except NotJson as error:
                reasons.append(str(error))
                continue
            for part in schema["anyOf"] if set(schema) == {"anyOf"} else [schema]:
                if part not in schemas:
                    schemas.append(part)
        if reasons and all(schema == {"type": "null"} for schema in schemas):
            raise NotJson(reasons[0])
        for reason in reasons:
            self.doubt(f"{reason}, so that this alternative is left out")
        return schemas[0] if len(schemas) == 1 else {} if {} in schemas else {"anyOf": schemas}


def _alternatives(node):
    """A long chain of | is a deep tree."""
    parts = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        parts.append(node.right)
        node = node.left
    return [node, *reversed(parts)]


def text_of(node):
    try:
        text = ast.unparse(node)
    except (RecursionError, ValueError):
        return "…"
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…"
