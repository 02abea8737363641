"""Rich output: what `display`, the protocol of `_repr_*_` methods and stand-ins for packages send, and where."""

import base64
import builtins
import logging
import os
import sys
import types
import unittest
from importlib.machinery import PathFinder
from unittest import mock

import plain_case
from pungi.run import display_hooks
from serving import LIMITS

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
CLASSES = f"""
PNG = {PNG!r}
class Html:
    def __repr__(self): return "an Html"
    def _repr_html_(self): return "<b>bold</b>"
class Silent:
    def _repr_html_(self): return "<style>b {{}}</style><p>first</p><b>sec&lt;ond</b>"
class Picture:
    def _repr_png_(self): return PNG
"""
# Code, what is printed, and the media types of each display.
SHOWN = {
    "text is printed and nothing else": ("display(1, 'a', [2])", "1\n'a'\n[2]\n", []),
    "HTML comes beside the text": ("display(Html())", "an Html\n", [["text/html", "text/plain"]]),
    "HTML stands for a repr that says nothing": ("display(Silent())", "first\nsec<ond\n", [["text/html", "text/plain"]]),
    "a picture is not printed": ("display(Picture())", "", [["image/png", "text/plain"]]),
    "a method that raises is skipped": (
        "class A(Html):\n    def _repr_png_(self): raise OSError\n    def _repr_latex_(self): return None\ndisplay(A())",
        "an Html\n", [["text/html", "text/plain"]],
    ),
    "a bundle comes first": (
        "class A(Html):\n    def _repr_mimebundle_(self, include=None, exclude=None):\n        return {'text/html': 'mine', 'text/plain': 'P'}\ndisplay(A())",
        "P\n", [["text/html", "text/plain"]],
    ),
    "a bundle without options, with metadata": (
        "class A:\n    def _repr_mimebundle_(self): return {'text/latex': '$x$'}, {'isolated': True}\ndisplay(A())",
        "$x$\n", [["text/latex", "text/plain"]],
    ),
    "a method with metadata": (
        "class A:\n    def _repr_png_(self): return PNG, {'width': 3}\ndisplay(A())", "", [["image/png", "text/plain"]],
    ),
    "an object that shows itself": (
        "class A:\n    def _ipython_display_(self): print('shown'); display(Picture())\ndisplay(A())", "shown\n",
        [["image/png", "text/plain"]],
    ),
    "PNG instead of both": (
        "class A(Picture):\n    def _repr_jpeg_(self): raise SystemExit\ndisplay(A())", "", [["image/png", "text/plain"]],
    ),
    "classes are not asked": ("display(Picture)", "<class '__main__.Picture'>\n", []),
    "methods of the object itself": (
        "import types\nvalue = types.SimpleNamespace(_repr_html_=lambda: 'x')\ndisplay(value)", None, [["text/html", "text/plain"]],
    ),
    "an object that answers to every name": (
        "class A:\n    def __getattr__(self, name): print('asked', name); return lambda *a, **o: 'x'\n    def __repr__(self): return 'A'\ndisplay(A())",
        "A\n", [],
    ),
    "a mock": ("from unittest.mock import MagicMock\ndisplay(MagicMock(name='m'))", None, []),
    "raw data": ("display({'text/html': '<i>', 'text/plain': 'plain'}, raw=True)", "plain\n", [["text/html", "text/plain"]]),
    "JSON": ("from IPython.display import JSON\ndisplay(JSON({'a': [1]}))", '{"a": [1]}\n', [["application/json", "text/plain"]]),
    "JSON from text": ("from IPython.display import JSON\ndisplay(JSON('[1]'))", "[1]\n", [["application/json", "text/plain"]]),
    "Markdown": ("from IPython.display import Markdown, display\ndisplay(Markdown('# x'))", "# x\n", [["text/markdown", "text/plain"]]),
    "Latex and Math": (
        "from IPython.display import Latex, Math\ndisplay(Latex('$x$'), Math('y'))", "$x$\n$\\displaystyle y$\n",
        [["text/latex", "text/plain"]] * 2,
    ),
    "HTML of a module": ("import IPython\nIPython.display.display(IPython.display.HTML('<b>b</b>'))", "b\n", [["text/html", "text/plain"]]),
    "from the older module": ("from IPython.core.display import display, HTML\ndisplay(HTML('b'))", "b\n", [["text/html", "text/plain"]]),
    "an alias": ("from IPython import display as d\nd.display(d.HTML('b'))", "b\n", [["text/html", "text/plain"]]),
    "SVG": ("from IPython.display import SVG\ndisplay(SVG('<svg/>'))", "", [["image/svg+xml", "text/plain"]]),
    "an image from bytes": ("from IPython.display import Image\ndisplay(Image(PNG))", "", [["image/png", "text/plain"]]),
    "an image from a file": (
        "open('a.png', 'wb').write(PNG)\nfrom IPython.display import Image\ndisplay(Image('a.png'), Image(filename='a.png'))", "",
        [["image/png", "text/plain"]] * 2,
    ),
    "an image of another server": (
        "from IPython.display import Image\ndisplay(Image(url='https://x.org/a.png'), Image('https://x.org/b.png'))",
        "<IPython.core.display.Image https://x.org/a.png>\n<IPython.core.display.Image https://x.org/b.png>\n",
        [["text/html", "text/plain"]] * 2,
    ),
    "sound and video": (
        "from IPython.display import Audio, Video, YouTubeVideo, IFrame\ndisplay(Audio([0, 1], rate=8000), Video('a.mp4'), YouTubeVideo('id', width=4))",
        "<IPython.core.display.Audio>\n<IPython.core.display.Video a.mp4>\n<IPython.core.display.YouTubeVideo id>\n", [],
    ),
    "a pretty text": ("from IPython.display import Pretty\ndisplay(Pretty('text'))", "text\n", []),
    "the last value": ("Html()", "", [["text/html", "text/plain"]]),
    "the last value whose repr says nothing": ("Silent()", "first\nsec<ond\n", [["text/html", "text/plain"]]),
    "a last value whose methods show nothing": ("class A:\n    def _repr_html_(self): return '<img>'\nA()", "", [["text/html", "text/plain"]]),
    "a last value whose methods raise": ("class A:\n    def _repr_html_(self): raise OSError\nA()", "", []),
    "a last value whose bundle has a text": (
        "class A:\n    def _repr_mimebundle_(self, **options): return {'text/html': 'x', 'text/plain': 'P'}\nA()", "P\n", [["text/html", "text/plain"]],
    ),
    "a method that prints": (
        "class A:\n    def _repr_pretty_(self, p, cycle):\n        with p.group(2, 'A(', ')'):\n            p.breakable('')\n            p.pretty([1]) if not cycle else p.text('...')\n"
        "display(A())\nA()", "A([1])\n" * 2, [],
    ),
    "rows of HTML": (
        "class A:\n    def _repr_html_(self): return '<table>\\n<tr>\\n<th>a</th>\\n<th>b</th>\\n</tr>\\n<tr>\\n<td>1</td><td>2\\n3</td></tr></table><pre>x\\n  y</pre>'\ndisplay(A())",
        "a | b\n1 | 2 3\nx\ny\n", [["text/html", "text/plain"]],
    ),
    "sound has no words": (
        "class A:\n    def __repr__(self): return '<Audio object>'\n    def _repr_html_(self): return '<audio>Your browser is old.</audio>'\ndisplay(A())",
        "<Audio object>\n", [["text/html", "text/plain"]],
    ),
    "a value before a semicolon": ("Html();  # not shown", "", []),
    "a last value without more": ("[1, 2]", "", []),
    "in a thread": ("import threading\nt = threading.Thread(target=display, args=(Picture(),))\nt.start(); t.join()", "", [["image/png", "text/plain"]]),
    "after a failure of a method": ("class A:\n    def _repr_html_(self): raise KeyboardInterrupt\ntry: display(A())\nexcept KeyboardInterrupt: print('stopped')\ndisplay(Picture())", "stopped\n", [["image/png", "text/plain"]]),
    "data that JSON cannot hold": ("display({'application/json': {1, 2}, 'text/plain': 'set'}, raw=True)", "set\n", [["application/json", "text/plain"]]),
    "not a number": ("display({'application/json': float('nan'), 'text/plain': 'nan'}, raw=True)", "nan\n", [["text/plain"]]),
}


class Displays(plain_case.PlainCase):
    def show(self, code, **more):
        """The answer of each tier."""
        return [self.run_in(server, CLASSES + code, **more) for server in self.servers.values()]

    def test_what_is_shown(self):
        for name, (code, printed, media) in SHOWN.items():
            for answer in self.show(code):
                with self.subTest(name):
                    self.assertEqual(answer["end"]["status"], 0, answer)
                    found = [sorted(about["data"]) for _, about in answer["displays"]]
                    self.assertEqual(found, media)
                    if printed is not None:
                        self.assertEqual(answer["stdout"].decode(), printed)

    def test_displays_have_their_place_in_the_output(self):
        code = "for i in range(50):\n    print(i, end='')\n    display(Picture())\nprint('end')"
        for answer in self.show(code):
            places, text = [at for at, _ in answer["displays"]], "".join(map(str, range(50)))
            self.assertEqual(answer["stdout"].decode(), f"{text}end\n")
            self.assertEqual(places, [len("".join(map(str, range(i + 1)))) for i in range(50)])

    def test_the_value_stays_beside_its_display(self):
        for answer in self.show("Html()"):
            self.assertEqual(answer["report"], {"value": {"type": "Html", "repr": "an Html"}})
            self.assertTrue(answer["displays"][0][1]["value"])

    def test_updates_and_clearing_are_passed_on(self):
        code = "h = display(Picture(), display_id='a')\nh.update(Html())\nfrom IPython.display import clear_output\nclear_output(wait=True)\ndisplay(Picture())"
        for answer in self.show(code):
            about = [{name: each for name, each in about.items() if name != "data"} for _, about in answer["displays"]]
            self.assertEqual(about, [{"id": "a"}, {"id": "a", "update": True}, {"clear": True}])

    def test_more_than_there_is_room_for_is_counted(self):
        for answer in self.show("for _ in range(3000): display(Picture())\nprint('done')"):
            left_out = [about.get("leftOut") for _, about in answer["displays"]]
            self.assertEqual((len(left_out) - left_out.count(None), left_out[-1]), (2, 2000))
            self.assertEqual((answer["stdout"], answer["end"]["status"]), (b"done\n", 0))

    def test_a_content_that_is_too_large_is_named(self):
        code = "display({'text/x-note': 'x' * 5_000_000, 'text/html': 'x' * 5_000_000, 'text/plain': 'large'}, raw=True)"
        for answer in self.show(code):
            self.assertEqual(answer["stdout"], b"large\n")
            named = ["text/x-note of 5000000 bytes: it is too large", "text/html of 5000000 bytes: it is too large"]
            self.assertEqual([about["omitted"] for _, about in answer["displays"]], [named])

    def test_a_child_prints_and_sends_nothing(self):
        code = "import os\nif os.fork() == 0:\n    display(Html(), Picture())\n    os._exit(0)\nos.wait()\ndisplay(Picture())"
        for answer in self.show(code):
            self.assertRegex(answer["stdout"].decode(), r"^an Html\n<__main__.Picture object at \w+>\n$")
            self.assertEqual(len(answer["displays"]), 1)

    def test_threads_and_signals_leave_the_channel_whole(self):
        code = """
import signal, threading
class Stop(Exception): pass
def stop(*_):
    global is_inside
    display(Picture())
    if is_inside:
        is_inside = False
        raise Stop
is_inside = False
signal.signal(signal.SIGALRM, stop)
large = {"image/svg+xml": "x" * 500_000}
threads = [threading.Thread(target=lambda: [display(large, raw=True) for _ in range(5)]) for _ in range(3)]
for t in threads: t.start()
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
for _ in range(15):
    try:
        is_inside = True
        display(large, raw=True)
        is_inside = False
    except Stop:
        pass
signal.setitimer(signal.ITIMER_REAL, 0)
for t in threads: t.join()
"value"
"""
        for answer in self.show(code):
            self.assertEqual((answer["report"] or {}).get("value", {}).get("repr"), "'value'", answer["stderr"])
            self.assertGreaterEqual(len(answer["displays"]), 15)

    def test_a_run_that_is_stopped_keeps_what_it_has_shown(self):
        for answer in self.show("print('before')\ndisplay(Picture())\nwhile True: pass", limits={**LIMITS, "timeoutMs": 700}):
            self.assertEqual((answer["end"]["killedFor"], [at for at, _ in answer["displays"]]), ("timeout", [7]))

    def test_other_parts_of_ipython_are_missing(self):
        for name in ("import IPython\nIPython.embed()", "from IPython import embed", "import IPython.terminal"):
            for answer in self.show(name):
                self.assertRegex(answer["report"]["exception"]["missingModule"], "^IPython")

    def test_scripts_see_the_import_system_of_any_interpreter(self):
        code = "import sys\nprint(len(sys.meta_path), [n for n in sys.modules if n.startswith('pungi.run') or 'IPython' in n])"
        for answer in self.show(code):
            self.assertEqual(answer["stdout"], b"3 []\n")


class Hooks(unittest.TestCase):
    def install(self, matplotlib):
        """In an interpreter that has loaded it."""
        with mock.patch.dict(sys.modules, matplotlib=matplotlib), mock.patch.object(PathFinder, "find_spec"), mock.patch.dict(vars(builtins)):
            display_hooks.install()

    def test_a_package_that_is_loaded_already_is_connected(self):
        for variable, expected in (("agg", {"backend": "module://pungi_figures"}), ("", {"backend": "module://pungi_figures"}), ("svg", {})):
            matplotlib = types.SimpleNamespace(rcParams={})
            with mock.patch.dict(os.environ, MPLBACKEND=variable):
                self.install(matplotlib)
            self.assertEqual(matplotlib.rcParams, expected, variable)
        self.assertEqual(logging.getLogger("matplotlib.font_manager").level, logging.ERROR)

    def test_another_package_of_the_name_does_no_harm(self):
        self.install(types.SimpleNamespace())


if __name__ == "__main__":
    unittest.main()
