"""Command lines that argparse reads: the parsers that the script would make, and what it would add to them."""

from .argparse_options import Unreadable, read_argument
from .command_model import Command, Findings, before_word, sentences
from .module import dedent, docstring_of
from .static_values import UNKNOWN, Class, Function, Made, Member

_PARSERS = ("argparse.ArgumentParser",)
_PARSING = ("parse_args", "parse_known_args", "parse_intermixed_args", "parse_known_intermixed_args")


class _Parser:
    """`children`: {word: parser}; `subcommands`: the call that makes them, if there is one."""

    def __init__(self, made, program):
        about = made.kwargs
        self.line, self.program = made.line, about["prog"] if isinstance(about.get("prog"), str) else program
        self.about = dict(about)
        self.prefixes = about["prefix_chars"] if isinstance(about.get("prefix_chars"), str) else "-"
        self.defaults, self.parameters, self.children = {}, [], {}
        self.notes, self.groups = [], []
        self.is_parent = self.is_parsed = self.has_subcommands = False
        self.handler = None

    def add(self, parameter):
        twin = next((each for each in self.parameters if _is_opposite(each, parameter)), None)
        if twin is None:
            self.parameters = [each for each in self.parameters if each.name != parameter.name] + [parameter]
            return parameter
        on, off = (twin, parameter) if parameter.turns_off else (parameter, twin)
        on.when_false, on.name, on.default = off.flag, on.dest, twin.initial
        on.description = sentences(on.description, f"If not: {off.description}" if off.description else "")
        self.parameters[self.parameters.index(twin)] = on
        return on


def _is_opposite(one, other):
    """`--color` and `--no-color` that set the same thing."""
    are_switches = one.dest is not None and one.when_false is other.when_false is None
    return are_switches and one.dest == other.dest and one.turns_off != other.turns_off


class _Group:
    def __init__(self, parser, is_exclusive, made):
        self.parser, self.is_exclusive, self.line = parser, is_exclusive, made.line
        self.is_required = made.kwargs.get("required") is True
        self.members = []


class _Subcommands:
    def __init__(self, parser):
        self.parser = parser


def find(trace, program):
    """The commands of the parser that the script asks to parse."""
    reading = _Reading(trace, program)
    for call in trace.calls:
        reading.read(call)
    return reading.finish()


class _Reading:
    def __init__(self, trace, program):
        self.findings = Findings()
        self._trace, self._program = trace, program
        self._things = {}
        self._parsers = []
        self._serving = set()

    def read(self, call):
        if isinstance(call.callee, Function) and any(map(self._is_own, [*call.args, *call.kwargs.values()])):
            self._serving.add(call.callee.node)
        if call.is_of(*_PARSERS) or isinstance(call.callee, Class) and call.callee.inherits(*_PARSERS):
            self._add_parser(call)
        elif isinstance(call.callee, Member):
            self._ask(self._things.get(id(call.callee.owner)), call.callee.name, call)

    def _is_own(self, value):
        """A parser, or what one has parsed."""
        if isinstance(value, Made) and isinstance(value.callee, Member) and value.callee.name in _PARSING:
            value = value.callee.owner
        return isinstance(self._things.get(id(value)), _Parser)

    def _add_parser(self, call):
        self._serving.add(call.within)
        parser = _Parser(call, self._program)
        if call.args and isinstance(call.args[0], str):
            parser.program = call.args[0]
        self._things[id(call)] = parser
        self._parsers.append(parser)
        self._adopt(parser, call)
        if "fromfile_prefix_chars" in call.kwargs:
            reason = f"a value that begins with {call.kwargs['fromfile_prefix_chars']!r} is read from the file of that name"
            self.findings.remark(call.line, parser.program, reason)

    def _adopt(self, parser, call):
        parents = call.kwargs.get("parents")
        for parent in parents if isinstance(parents, (list, tuple)) else ():
            found = self._things.get(id(parent))
            if isinstance(found, _Parser):
                found.is_parent = True
                parser.parameters += found.parameters
                parser.notes += found.notes
            else:
                self.findings.remark(call.line, parser.program, "a parser whose options it takes over is not known")

    def _ask(self, thing, method, call):
        parser = thing if isinstance(thing, _Parser) else getattr(thing, "parser", None)
        if parser is None:
            return
        self._serving.add(call.within)
        if method == "add_argument":
            self._add_argument(thing, parser, call)
        elif method == "__init__":
            parser.about.update(call.kwargs)
        elif method in ("add_argument_group", "add_mutually_exclusive_group"):
            group = _Group(parser, method == "add_mutually_exclusive_group", call)
            parser.groups.append(group)
            self._things[id(call)] = group
        elif method == "add_subparsers":
            parser.has_subcommands = True
            self._things[id(call)] = _Subcommands(parser)
        elif method == "add_parser" and isinstance(thing, _Subcommands):
            self._add_subcommand(parser, call)
        elif method == "set_defaults":
            self._set_defaults(parser, call)
        elif method in _PARSING:
            parser.is_parsed = True

    def _add_argument(self, thing, parser, call):
        try:
            parameter = read_argument(call, parser, self.findings)
        except Unreadable as problem:
            self.findings.remark(call.line, problem.name, str(problem), is_skipped=True)
            return
        if isinstance(converter := call.kwargs.get("type"), Function):
            self._serving.add(converter.node)
        if parameter is None:
            return
        added = parser.add(parameter)
        if isinstance(thing, _Group):
            thing.members.append(added)

    def _add_subcommand(self, parser, call):
        word = call.args[0] if call.args else call.kwargs.get("name")
        if not isinstance(word, str):
            self.findings.remark(call.line, "add_parser", "the name of the subcommand is known only when the script runs", True)
            word = None
        child = _Parser(call, self._program)
        self._things[id(call)] = child
        self._adopt(child, call)
        if word is not None:
            parser.children[word] = child

    def _set_defaults(self, parser, call):
        for name, value in call.kwargs.items():
            if isinstance(value, Function):
                parser.handler = value
                self._serving.add(value.node)
                continue
            parser.defaults[name] = value
            for parameter in parser.parameters:
                if parameter.name == name and value is not UNKNOWN and parameter.takes != "nothing":
                    parameter.default = value

    def finish(self):
        parsed = [parser for parser in self._parsers if parser.is_parsed]
        roots = parsed or [parser for parser in self._parsers if parser.parameters or parser.children]
        # One that first reads where its settings are, and whose options another one then takes over.
        roots = [parser for parser in roots if not parser.is_parent] or roots
        if not roots:
            return self.findings
        for other in roots[1:]:
            self.findings.remark(other.line, other.program, f"a second parser; the one of line {roots[0].line} is taken", True)
        self._add_commands(roots[0], [], [])
        self.findings.functions = {node.name for node in self._serving if node is not None}
        return self.findings

    def _add_commands(self, parser, words, before):
        self._tell_groups(parser)
        if not parser.children:
            self._add_command(parser, words, before)
            return
        own = before_word(parser.parameters, len(words), self.findings)
        for word, child in parser.children.items():
            self._add_commands(child, [*words, word], [*before, *own])

    def _add_command(self, parser, words, before):
        description = _text(parser.about.get("description"), parser) or _text(parser.about.get("help"), parser)
        if not description and parser.handler:
            description = docstring_of(parser.handler.node)
        command = Command(words, "\n\n".join(filter(None, [description, *parser.notes])), parser.line)
        command.parameters, command.before = parser.parameters, before
        self.findings.commands.append(command)

    def _tell_groups(self, parser):
        for group in parser.groups:
            if not group.is_exclusive or len(group.members) < 2:
                continue
            names = [parameter.name for parameter in group.members]
            for parameter in group.members:
                others = ", ".join(name for name in names if name != parameter.name)
                parameter.description = sentences(parameter.description, f"Not together with {others}.")
            listed = ", ".join(names)
            if group.is_required:
                parser.notes.append(f"Exactly one of {listed} must be given.")
            reason = f"only one of {listed} may be given, which the schema does not say but the descriptions do"
            self.findings.remark(group.line, ", ".join(names), reason)


def _text(value, parser):
    return dedent(value).replace("%(prog)s", parser.program) if isinstance(value, str) else ""
