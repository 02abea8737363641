"""A type hint becomes JSON Schema."""

import collections
import collections.abc
import contextlib
import types
import typing

from ..calls.classes import is_class
from . import class_schemas
from .definitions import size_of
from .known_types import NULL, KnownTypes, NotJson, cannot_be_json, is_picture, name_of
from .literals import read_literal
from .metadata import Metadata

_MAX_DEPTH, _MAX_STEPS = 60, 4000
_MAX_SENTENCE = 300
# An alias of this many parts is written once: aliases of aliases would grow without end.
_LARGE = 40
_ABC = collections.abc
_LISTS = {
    list, collections.deque, _ABC.Sequence, _ABC.MutableSequence, _ABC.Iterable, _ABC.Collection, _ABC.Container,
    _ABC.Reversible, _ABC.Iterator,
}
# A call collects what they yield; nothing of the kind can be an argument.
_STREAMS = {_ABC.Generator, _ABC.AsyncIterator, _ABC.AsyncGenerator, _ABC.AsyncIterable}
_SETS = {set, frozenset, _ABC.Set, _ABC.MutableSet}
_MAPPINGS = {
    dict, collections.OrderedDict, collections.defaultdict, collections.ChainMap, collections.UserDict, _ABC.Mapping,
    _ABC.MutableMapping, types.MappingProxyType,
}
_AWAITABLES = {_ABC.Awaitable: 0, _ABC.Coroutine: 2}
# They say something of the type inside, which a schema leaves out.
_TRANSPARENT = {"Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "TypeGuard", "TypeIs", "Unpack"}


class _TooLarge(Exception):
    pass


class TypeReader:
    """Reads the hints of one function. `doubts`: sentences about what it could not express; `definitions`: for $defs.
    `docs(class)`: {field: text} of the syntax tree."""

    def __init__(self, names, is_result=False, docs=lambda kind: {}):
        self.names, self.is_result, self.docs = names, is_result, docs
        self.definitions, self.doubts, self.has_pictures = {}, [], False
        self._known = KnownTypes(is_result)
        self._depth = self._steps = self._containers = 0
        self._under_way, self._refused, self._referred = {}, {}, set()
        self._variables = {}

    def read_whole(self, hint):
        """The schema of a whole hint; an empty one where anything goes. Raises NotJson."""
        self._steps = 0
        try:
            return self.read(hint)
        except _TooLarge:
            return self.doubt("The type is too large to be read")

    def read(self, hint):
        self._depth += 1
        self._steps += 1
        try:
            if self._depth > _MAX_DEPTH or self._steps > _MAX_STEPS:
                raise _TooLarge
            alias = self._alias_of(hint)
            return self._read(hint) if alias is None else self.named(alias, lambda: self._read(hint))
        finally:
            self._depth -= 1

    def inner(self, hint):
        """What is inside of an array or object, where a type may contain itself."""
        self._containers += 1
        try:
            return self.read(hint)
        finally:
            self._containers -= 1

    @contextlib.contextmanager
    def within(self, names, variables=()):
        """Reads with the names of another module, and with these types for type variables."""
        before = self.names, self._variables
        self.names, self._variables = names, self._variables | dict(variables)
        try:
            yield
        finally:
            self.names, self._variables = before

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
        """Identifies a class below $defs: Box[int] is another one than Box[str]."""
        if not arguments:
            return name
        inner = "_".join(name_of(self._variables.get(each, each)) if each.__hash__ else "" for each in arguments)
        return name + "".join(letter if letter.isalnum() else "_" for letter in f"[{inner}]")

    def _alias_of(self, hint):
        """The name that the script has for a composed type: types that contain themselves are referred to by it."""
        if is_class(hint) or not isinstance(hint, (types.GenericAlias, types.UnionType, typing._GenericAlias)):
            return None
        return next((name for name, value in self.names.items() if value is hint and isinstance(name, str)), None)

    def _read(self, hint):
        if hint is None or hint is type(None):
            return dict(NULL)
        if isinstance(hint, (str, typing.ForwardRef)):
            return self._read_text(hint if isinstance(hint, str) else hint.__forward_arg__)
        if isinstance(hint, typing.TypeVar):
            return self._read_variable(hint)
        if hasattr(hint, "__metadata__"):
            return self._read_annotated(hint)
        if hasattr(hint, "__supertype__"):
            return self.named(hint.__name__, lambda: self.read(hint.__supertype__))
        if type(hint).__name__ == "TypeAliasType":
            return self._read_alias(hint, ())
        self.has_pictures = self.has_pictures or is_picture(hint)
        plain = self._known.schema_of(hint)
        if plain is not None:
            self.has_pictures = self.has_pictures or plain.get("format") == "binary"
            return plain
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin is None:
            return self._read_bare(hint)
        return self._read_generic(hint, origin, arguments)

    def _read_text(self, text):
        try:
            hint = eval(text, self.names)
        except Exception as error:
            return self.doubt(f'"{text[:80]}" cannot be resolved ({type(error).__name__})')
        key = text if text.isidentifier() else None
        return self.read(hint) if key is None or is_class(hint) else self.named(key, lambda: self._read(hint))

    def _read_variable(self, variable):
        if variable in self._variables:
            hint = self._variables[variable]
            with self.within(self.names, {variable: object}):
                return self.read(hint)
        plain = self._known.schema_of(variable)
        if plain is not None:
            return plain
        if variable.__constraints__:
            return self.union(variable.__constraints__)
        return self.read(variable.__bound__) if variable.__bound__ is not None else {}

    def _read_annotated(self, hint):
        metadata = Metadata()
        for item in hint.__metadata__:
            metadata.read(item)
        return metadata.apply(self.read(hint.__origin__))

    def _read_alias(self, alias, arguments):
        """`type Ids = list[int]`"""
        variables = dict(zip(alias.__type_params__, arguments))
        with self.within(self.names, variables):
            return self.named(self.key(alias.__name__, arguments), lambda: self.read(alias.__value__))

    def _read_generic(self, hint, origin, arguments):
        if origin in (typing.Union, types.UnionType):
            return self.union(arguments)
        if origin is typing.Literal:
            return read_literal(self, arguments)
        if getattr(origin, "_name", None) in _TRANSPARENT or type(hint).__name__ == "InitVar":
            return self.read(arguments[0])
        if type(origin).__name__ == "TypeAliasType":
            return self._read_alias(origin, arguments)
        plain = self._known.schema_of(origin)
        if plain is not None:
            return plain
        container = self._read_container(origin, arguments, is_empty_tuple=origin is tuple and not arguments and hint is not typing.Tuple)
        if container is not None:
            return container
        if self.is_result and origin in _AWAITABLES and len(arguments) > _AWAITABLES[origin]:
            return self.read(arguments[_AWAITABLES[origin]])
        return class_schemas.read_class(self, origin, arguments) if is_class(origin) else self._read_bare(hint)

    def _read_bare(self, hint):
        if type(hint).__name__ == "InitVar":
            return self.read(hint.type)
        container = self._read_container(hint, ())
        if container is not None:
            return container
        if hint in (typing.NoReturn, getattr(typing, "Never", typing.NoReturn), getattr(typing, "Self", typing.NoReturn)):
            return {}
        if is_class(hint):
            return class_schemas.read_class(self, hint, ())
        if getattr(hint, "__module__", None) in ("typing", "typing_extensions") or callable(hint) and cannot_be_json(hint):
            raise NotJson(f"JSON can express no {name_of(hint)}")
        return self.doubt(f"{name_of(hint)} is no type")

    def _read_container(self, kind, arguments, is_empty_tuple=False):
        """None where it is no container."""
        if not is_class(kind):
            return None
        if kind in _LISTS or (kind in _STREAMS and self.is_result):
            return {"type": "array", "items": self.inner(arguments[0]) if arguments else {}}
        if kind in _SETS:
            return {"type": "array", "uniqueItems": True, "items": self.inner(arguments[0]) if arguments else {}}
        if kind is tuple:
            return self._read_tuple(arguments, is_empty_tuple)
        if kind in _MAPPINGS:
            return self._read_mapping(arguments)
        if kind is collections.Counter:
            return {"type": "object", "additionalProperties": {"type": "integer"}}
        return None

    def _read_tuple(self, arguments, is_empty):
        if is_empty or arguments == ((),):
            return {"type": "array", "minItems": 0, "maxItems": 0}
        if not arguments or any(getattr(each, "__unpacked__", False) or typing.get_origin(each) is getattr(typing, "Unpack", object) for each in arguments):
            return {"type": "array", "items": {}}
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return {"type": "array", "items": self.inner(arguments[0])}
        items = [self.inner(each) for each in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}

    def _read_mapping(self, arguments):
        if len(arguments) != 2:
            return {"type": "object", "additionalProperties": True}
        keys, values = self.inner(arguments[0]), self.inner(arguments[1])
        schema = {"type": "object", "additionalProperties": values if values else True}
        # The names of a JSON object are texts; other keys are converted from them.
        target = self.definitions.get(keys.get("$ref", "").removeprefix("#/$defs/"), keys)
        is_text = target.get("type") == "string" or all(isinstance(each, str) for each in target.get("enum", [None]))
        if is_text and target != {"type": "string"}:
            schema["propertyNames"] = keys
        return schema

    def read_foreign(self, kind):
        """A class that has no fields which could be known."""
        if cannot_be_json(kind):
            raise NotJson(f"JSON can express no {name_of(kind)}")
        return self.doubt(f"{name_of(kind)} is a class of another package that declares no fields")

    def union(self, alternatives):
        """What JSON cannot express is left out as long as something else remains."""
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
        if reasons and all(schema == NULL for schema in schemas):
            raise NotJson(reasons[0])
        for reason in reasons:
            self.doubt(f"{reason}, so that this alternative is left out")
        return schemas[0] if len(schemas) == 1 else {} if {} in schemas else {"anyOf": schemas}
