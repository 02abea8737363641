import json
import pathlib
import subprocess
import sys
import sysconfig
import unittest

import python_half  # noqa: F401
from discovered import inspected, needs
from script_corpus import FOLDER, source_of

_REAL = pathlib.Path(__file__).with_name("real_parser.py")
_READABLE = (
    "argparse_simple.py", "argparse_every_form.py", "argparse_subcommands.py", "argparse_groups.py", "argparse_parents.py",
    "argparse_in_class.py", "async_argparse.py", "stdin_argparse.py", "star_imports.py", "stem-with-dashes_and.dots.py",
    "crlf_lines.py",
)
# Tools that every Python brings; all of them read their command line only where they are run as scripts.
_STANDARD = (
    "ast.py", "calendar.py", "compileall.py", "dis.py", "gzip.py", "inspect.py", "json/tool.py", "pickletools.py",
    "py_compile.py",
    "tarfile.py", "tokenize.py", "trace.py", "zipapp.py", "http/server.py", "doctest.py",
)
_SILENT = ("_HelpAction", "_VersionAction")


def scripts_of(source, filename="tool.py"):
    return inspected(source, filename)["scripts"]


def click_words(source):
    """The subcommands that click itself has."""
    code = source.replace("cli()\n", "print(*cli.commands)\n")
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def only_tool(source):
    (tool,) = scripts_of(source)
    return tool


class AgainstArgparse(unittest.TestCase):
    """What was read is what argparse itself has once the script is run."""

    def test_every_option_of_the_corpus_is_found_with_its_flag_default_and_choices(self):
        for name in _READABLE:
            with self.subTest(name):
                self.compare_script(FOLDER / name, source_of(name))

    def test_so_are_those_of_the_standard_library(self):
        folder = pathlib.Path(sysconfig.get_path("stdlib"))
        for name in _STANDARD:
            with self.subTest(name):
                self.compare_script(folder / name, (folder / name).read_text("utf-8"))

    def compare_script(self, path, source):
        run = subprocess.run([sys.executable, _REAL, path], capture_output=True, text=True, check=True)
        real = json.loads(run.stdout)
        found = {" ".join(tool["command"]): tool for tool in scripts_of(source, path.name)}
        self.assertEqual(list(found), list(real))
        for words, actions in real.items():
            self.compare(found[words], [action for action in actions if action["kind"] not in _SILENT])

    def compare(self, tool, actions):
        own = [rule for rule in tool["argv"] if "before" not in rule]
        flags = {flag for action in actions for flag in action["flags"]}
        for rule in own:
            self.assertTrue(rule["flag"] is None or rule["flag"] in flags, rule)
        said = [rule["flag"] for rule in own] + [rule.get("whenFalse") for rule in own]
        for action in actions:
            if action["flags"]:
                self.assertTrue(set(action["flags"]) & set(said), action)
                rule = next(each for each in own if {each["flag"], each.get("whenFalse")} & set(action["flags"]))
            else:
                name = action["dest"].replace("-", "_")
                rule = next(each for each in own if each["flag"] is None and each["parameter"] == name)
            self.compare_one(rule["parameter"], rule, action, tool["inputSchema"])

    def compare_one(self, parameter, rule, action, schema):
        about = schema["properties"][parameter]
        # argparse calls some of the words required that may be left out.
        if rule["flag"] is not None or action["nargs"] in (None, "+"):
            self.assertEqual(parameter in schema.get("required", ()), action["isRequired"], action)
        if "default" in about and rule["takes"] != "nothing":
            default = action["default"]
            self.assertEqual(about["default"], int(default) if about.get("type") == "integer" else default, action)
        if "enum" in about:
            self.assertEqual(about["enum"], action["choices"], action)
        elif "maximum" in about and action["choices"]:
            self.assertEqual([about["minimum"], about["maximum"]], [action["choices"][0], action["choices"][-1]])


class Argparse(unittest.TestCase):
    def parameters(self, *lines, head="import argparse"):
        tool = only_tool("\n".join([head, "p = argparse.ArgumentParser()", *lines, "p.parse_args()"]))
        return tool["inputSchema"]["properties"]

    def test_values_that_are_computed_from_constants(self):
        found = self.parameters(
            "p.add_argument('--a', type=int, default=60 * 60)",
            "p.add_argument('--b', default='x' + str(1))",
            "p.add_argument('--c', choices=sorted({'z', 'y'}))",
            "p.add_argument('--d', choices=[f'{n}k' for n in range(1, 3)])",
            "p.add_argument('--e', choices=dict(one=1, two=2).keys())",
            "p.add_argument('--f', help='%s of %s' % ('a', 'b'), default=-1.5, type=float)",
            "p.add_argument('--g', default=None or 'g', help='a {}'.format('format'))",
        )
        self.assertEqual(found["a"]["default"], 3600)
        self.assertEqual(found["b"]["default"], "x1")
        self.assertEqual([found[name]["enum"] for name in "cde"], [["y", "z"], ["1k", "2k"], ["one", "two"]])
        self.assertEqual(found["f"], {"type": "number", "description": "a of b", "default": -1.5})
        self.assertEqual(found["g"], {"type": "string", "description": "a format", "default": "g"})

    def test_a_word_that_the_help_hides_is_a_parameter_all_the_same(self):
        found = self.parameters(
            "p.add_argument('template', help=argparse.SUPPRESS)", "p.add_argument('--secret', help=argparse.SUPPRESS)",
        )
        self.assertEqual(found, {"template": {"type": "string"}})

    def test_a_parser_goes_through_functions_methods_and_partials(self):
        source = """
import argparse, functools
class Command:
    word = "x"
    @classmethod
    def register(cls, commands):
        cls.fill(commands.add_parser("one"))
    @staticmethod
    def fill(parser):
        add = functools.partial(parser.add_argument, type=int)
        add("--number")
def build(description=None, *, more=()):
    parser = argparse.ArgumentParser(description=description)
    Command.register(parser.add_subparsers())
    return parser
def main():
    global parser
    parser = build(description="Text")
    if (args := parser.parse_args()) and args:
        print(args)
main()
"""
        tool = only_tool(source)
        self.assertEqual((tool["name"], tool["command"]), ("tool_one", ["one"]))
        self.assertEqual(tool["inputSchema"]["properties"], {"number": {"type": "integer"}})

    def test_of_two_parsers_the_first_that_reads_the_words_is_taken(self):
        source = "import argparse\na = argparse.ArgumentParser()\na.add_argument('--x')\nb = argparse.ArgumentParser()\n"
        found = inspected(source + "b.add_argument('--y')\na.parse_args()\nb.parse_args()\n", "tool.py")
        self.assertEqual([rule["flag"] for rule in found["scripts"][0]["argv"]], ["--x"])
        self.assertEqual(found["remarks"], [])

    def test_one_that_reads_where_the_settings_are_comes_first_and_is_not_taken(self):
        source = """
import argparse
first = argparse.ArgumentParser(add_help=False)
first.add_argument("--config")
known, rest = first.parse_known_args()
second = argparse.ArgumentParser(parents=[first])
second.add_argument("--name")
second.parse_args(rest)
"""
        self.assertEqual([rule["flag"] for rule in only_tool(source)["argv"]], ["--config", "--name"])

    def test_words_before_a_subcommand_are_remarked(self):
        source = "import argparse\np = argparse.ArgumentParser()\np.add_argument('file')\np.add_argument('--quick', nargs=1)\n"
        source += "p.add_subparsers().add_parser('go').add_argument('--x')\np.parse_args()\n"
        found = inspected(source, "tool.py")
        places = [(rule["flag"], rule.get("before")) for rule in found["scripts"][0]["argv"]]
        self.assertEqual(places, [("--quick", 0), ("--x", None)])
        self.assertEqual([(remark["name"], remark["isSkipped"]) for remark in found["remarks"]], [("file", True)])

    def test_a_function_of_the_name_of_a_subcommand_keeps_its_name(self):
        source = "import argparse\ndef tool(x: int): ...\nif __name__ == '__main__':\n    p = argparse.ArgumentParser()\n"
        source += "    p.add_argument('x')\n    p.parse_args()\n"
        found = inspected(source, "tool.py")
        self.assertEqual([tool["name"] for tool in found["functions"] + found["scripts"]], ["tool", "tool_script"])

    def test_hostile_definitions_come_to_an_end(self):
        deep = "x" + ".x" * 800
        for line in (
            "p.add_argument('--' + 'a' * 10**9)", "p.add_argument('--a', default='{:>999999999}'.format(1))",
            "p.add_argument('--a', default='%999999999d' % 1)", "p.add_argument('--a', default=10**10**10)",
            "p.add_argument('--a', choices=range(10**12))", "p.add_argument('--a', default=list(range(10**9)))",
            f"p.add_argument('--a', default={deep})", "p.add_argument('--a', default=1e999)",
            f"p.add_argument('--a', default={'9' * 4000})",
            "p.add_argument('--a', default=[[y for y in range(2000)] for x in range(2000)])",
            "p.add_argument('--a', help='%(default)s' * 3, default='%(default)s')", "p.add_argument('--a', nargs=-1)",
            "p.add_argument(*p)", "p.add_argument(**p)", "p.add_argument()", "p.add_argument('')", "p.add_argument('-')",
            "p.add_argument('--')", "p.add_argument('--a', type=int, default='x')",
            "p.add_argument(p, type=p, choices=p, help=p)", "p.add_argument('--a', action='unheard-of')",
            "p.add_subparsers().add_parser(1)", "p.set_defaults(**{'a': 1})", "p.prefix_chars = '+'", "f = lambda: f()\nf()",
            "def f(*a, **k): return f(*a, **k)\nf(p)", "class P(P): pass",
            "p.add_argument('--a', choices=[]); p.add_argument('--a', choices=[[]])", "a = [0]\nfor x in a: a.extend(a)",
            "d = {}\nd['d'] = d\np.add_argument('--a', default=d, choices=d)",
        ):
            with self.subTest(line[:60]):
                found = scripts_of(f"import argparse\np = argparse.ArgumentParser()\n{line}\np.parse_args()\n")
                json.dumps(found, allow_nan=False)


@needs("click", "typer", "rich_click", "asyncclick")
class ClickAndTyper(unittest.TestCase):
    def tool(self, *decorators, head="import click"):
        lines = [head, "@click.command()", *decorators, "def run(**options):", "    '''Run.'''", "run()"]
        return only_tool("\n".join(lines))

    def argv(self, *decorators):
        return {rule["parameter"]: rule for rule in self.tool(*decorators)["argv"]}

    def test_the_forms_of_a_switch(self):
        found = self.argv(
            "@click.option('--a/--no-a')", "@click.option('-b/-B', '--bee/--no-bee', 'bee')",
            "@click.option('--c', is_flag=True)", "@click.option(' /--quiet', 'loud', default=True)",
            "@click.option('--d', default=False)", "@click.option('--e', type=bool)",
        )
        self.assertEqual({name: (rule["flag"], rule["takes"], rule.get("whenFalse")) for name, rule in found.items()}, {
            "a": ("--a", "nothing", "--no-a"), "bee": ("--bee", "nothing", "--no-bee"), "c": ("--c", "nothing", None),
            "quiet": ("--quiet", "nothing", None), "d": ("--d", "one", None), "e": ("--e", "one", None),
        })

    def test_names_follow_the_longest_flag(self):
        found = self.argv("@click.option('-n', '--full-name')", "@click.option('-x')", "@click.option('-t', '--type', 'kind')")
        named = [(rule["flag"], name) for name, rule in found.items()]
        self.assertEqual(named, [("--full-name", "full_name"), ("-x", "x"), ("--type", "kind")])

    def test_other_spellings_of_click(self):
        for head in ("import rich_click as click", "import asyncclick as click", "import click as c\nclick = c"):
            tool = self.tool("@click.option('--a', type=click.INT)", head=head)
            self.assertEqual(tool["inputSchema"]["properties"]["a"], {"type": "integer"})

    def test_a_subcommand_is_called_what_click_calls_it(self):
        source = "import click\n@click.group()\ndef cli(): ...\n@cli.command()\ndef init_cmd(): ...\ncli()\n"
        found = inspected(source, "tool.py")
        words = click_words(source)
        self.assertEqual([tool["command"] for tool in found["scripts"]], [[words[0]]])
        self.assertEqual(found["remarks"], [])

    def test_typer_hints(self):
        source = """
import typer
from typing import Literal, Optional, Union
app = typer.Typer()
@app.command()
def run(a: "Optional[int]" = None, b: Union[float, None] = 1.5, c: Literal["x", "y"] = "x", d: list[str] = [], e=3,
        h: typer.FileText = typer.Argument("-"), i: str = typer.Option("i", "--eye", "-i")): ...
app()
"""
        tool = only_tool(source)
        properties = tool["inputSchema"]["properties"]
        self.assertEqual([properties["a"], properties["b"]], [{"type": "integer"}, {"type": "number", "default": 1.5}])
        self.assertEqual(properties["c"], {"type": "string", "enum": ["x", "y"], "default": "x"})
        self.assertEqual(properties["d"], {"type": "array", "items": {"type": "string"}, "default": []})
        flags = {rule["parameter"]: rule["flag"] for rule in tool["argv"]}
        self.assertEqual((flags["i"], flags["h"], tool["stdin"]), ("--eye", None, "stdin"))

    def test_what_installed_programs_are_started_by_is_the_entry(self):
        for source, entry in (
            ("import typer\napp = typer.Typer()\n@app.command()\ndef run(count: int): ...\n", "app"),
            ("import click\n@click.command()\n@click.argument('count', type=int)\ndef start(count): ...\n", "start"),
            ("import click\n@click.group()\ndef all(): ...\n@all.command()\n@click.argument('count', type=int)\ndef one(count): ...\n", "all"),
        ):
            with self.subTest(source):
                found = inspected(source, "tool.py")
                (tool,) = found["scripts"]
                self.assertEqual((tool["entry"], found["functions"]), (entry, []))
                self.assertEqual(tool["inputSchema"]["properties"], {"count": {"type": "integer"}})


class Entries(unittest.TestCase):
    SOURCE = "import argparse\ndef main(argv=None):\n    p = argparse.ArgumentParser()\n    p.add_argument('x')\n    return p.parse_args(argv)\n"

    def test_a_main_that_nothing_calls_is_the_entry(self):
        (tool,) = inspected(self.SOURCE, "tool.py")["scripts"]
        self.assertEqual((tool["entry"], list(tool["inputSchema"]["properties"])), ("main", ["x"]))

    def test_a_main_that_the_script_calls_needs_none(self):
        (tool,) = inspected(f"{self.SOURCE}if __name__ == '__main__':\n    main()\n", "tool.py")["scripts"]
        self.assertNotIn("entry", tool)

    def test_a_script_that_ends_where_it_is_given_no_words_is_read_all_the_same(self):
        guarded = "if __name__ == '__main__':\n    import sys\n    sys.exit(main() if sys.argv[1:] else 'usage: tool x')\n"
        (tool,) = inspected(f"{self.SOURCE}{guarded}", "tool.py")["scripts"]
        self.assertEqual((tool["parser"], list(tool["inputSchema"]["properties"])), ("argparse", ["x"]))

    def test_a_script_that_catches_everything_is_read_all_the_same(self):
        guarded = "if __name__ == '__main__':\n    try:\n        main()\n    except BaseException:\n        print('never mind')\n"
        (tool,) = inspected(f"{self.SOURCE}{guarded}", "tool.py")["scripts"]
        self.assertEqual(tool["parser"], "argparse")

    def test_a_script_that_fails_before_it_parses_says_so(self):
        found = inspected(f"{self.SOURCE}if __name__ == '__main__':\n    open('none.csv')\n    main()\n", "tool.py")
        self.assertEqual([tool["parser"] for tool in found["scripts"]], [None])
        self.assertIn("FileNotFoundError", found["remarks"][0]["reason"])


if __name__ == "__main__":
    unittest.main()
