import unittest

import python_half  # noqa: F401
from discovered import BOOLEAN, INTEGER, NULL, NUMBER, STRING, one_tool
from pungi.discovery.docstrings import parse_docstring


def parsed(text):
    found = parse_docstring(text)
    return found.description, found.parameters, found.types


class Docstrings(unittest.TestCase):
    def test_google(self):
        self.assertEqual(parsed('''Add things.

        More of it: also this.

        Args:
            a (int): The first,
                in two lines.
            b: A note: with a colon.

            *rest: Others.
            **named (str, optional): By name.
            empty:

        Returns:
            int: The sum.

        Raises:
            ValueError: Never.
        '''), (
            "Add things.\n\nMore of it: also this.",
            {
                "a": "The first,\nin two lines.", "b": "A note: with a colon.", "rest": "Others.", "named": "By name.",
                "empty": "",
            },
            {"a": "int", "named": "str, optional"},
        ))

    def test_numpy(self):
        self.assertEqual(parsed('''
        Add things.

        Parameters
        ----------
        a : int
            The first,
            in two lines.
        b, c : {'x', 'y'}, optional
            Two of them.
        d
            Untyped.

        Other Parameters
        ----------------
        e : str
            Another.

        Returns
        -------
        int
            The sum.
        '''), (
            "Add things.",
            {"a": "The first,\nin two lines.", "b": "Two of them.", "c": "Two of them.", "d": "Untyped.", "e": "Another."},
            {"a": "int", "b": "{'x', 'y'}, optional", "c": "{'x', 'y'}, optional", "e": "str"},
        ))

    def test_sphinx(self):
        self.assertEqual(parsed('''Add things.

        More of it.

        :param a: The first,
            in two lines.
        :type a: int
        :param str b: The second.
        :keyword c: The third.
        :returns: The sum.
        :raises ValueError: Never.
        '''), (
            "Add things.\n\nMore of it.",
            {"a": "The first,\nin two lines.", "b": "The second.", "c": "The third."},
            {"a": "int", "b": "str"},
        ))

    def test_plain(self):
        for text in (
            "Only words.", "Words.\n\nNote: no section.", "Words.\n\nArgs:\nnothing is indented here",
            "Words.\n\n:ref:`elsewhere` is no field",
            "A title\n=======", "Words.\n\nParameters\n\nwithout a rule",
        ):
            with self.subTest(text=text):
                self.assertEqual(parsed(text), (text, {}, {}))
        self.assertEqual(parsed(""), ("", {}, {}))

    def test_only_a_section(self):
        self.assertEqual(parsed("\nArgs:\n    a: The first."), ("", {"a": "The first."}, {}))
        self.assertEqual(parsed("Do.\n\nReturns:\n    Nothing."), ("Do.", {}, {}))

    def test_their_types_stand_in_for_missing_annotations(self):
        for text, schema in (
            ("int", INTEGER), ("str, optional", STRING), ("float or None", {"anyOf": [NUMBER, NULL]}),
            ("bool, default True", BOOLEAN),
            ("list of str", {"type": "array", "items": STRING}), ("list[int]", {"type": "array", "items": INTEGER}),
            ("{'a', 'b'}, optional", {"enum": ["a", "b"], "type": "string"}), ("int | str", {"anyOf": [INTEGER, STRING]}),
            ("Boolean", BOOLEAN), ("dict", {"type": "object", "additionalProperties": True}),
            ("array_like", {}), ("int or Thing", {}), ("callable", {}), ("path-like object", {}), ("DataFrame", {}),
            ("{x, y}", {}), ("", {}),
        ):
            with self.subTest(text=text):
                tool = one_tool(f'def f(a):\n    """Do.\n\n    Args:\n        a ({text}): It.\n    """')
                found = {key: value for key, value in tool["inputSchema"]["properties"]["a"].items() if key != "description"}
                self.assertEqual(found, schema)

    def test_annotations_win_over_their_types(self):
        tool = one_tool('def f(a: int):\n    """Do.\n\n    Args:\n        a (str): It.\n    """')
        self.assertEqual(tool["inputSchema"]["properties"]["a"], INTEGER | {"description": "It."})

    def test_long_ones_take_no_time(self):
        spaces = " " * 50_000
        for text in ("Args:\n" * 5000, f"a\n\nArgs:\n    x{spaces}y", f":param{spaces}x", "x (" + "(" * 50_000):
            self.assertIsNotNone(parse_docstring(text))


if __name__ == "__main__":
    unittest.main()
