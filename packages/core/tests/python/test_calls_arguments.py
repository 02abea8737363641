import unittest

import python_half  # noqa: F401
from pungi.calls import arguments


def schema_of(properties, required=(), **more):
    return {"type": "object", "properties": properties, "required": list(required), **more}


WHOLE = {"type": "integer"}


def checked(kind, value):
    """What one argument becomes; fails where it is refused."""
    found, issues = arguments.check(schema_of({"a": kind}), {"a": value})
    assert not issues, issues
    return found["a"]


def refused(kind, value):
    _, issues = arguments.check(schema_of({"a": kind}), {"a": value})
    return issues


class Conversion(unittest.TestCase):
    def expect(self, kind, value, wanted):
        found = checked(kind, value)
        self.assertEqual((type(found), found), (type(wanted), wanted))

    def test_numbers_in_texts(self):
        self.expect({"type": "integer"}, "10", 10)
        self.expect({"type": "integer"}, " -7.0 ", -7)
        self.expect({"type": "integer"}, 10.0, 10)
        self.expect({"type": "number"}, "1.5", 1.5)
        self.expect({"type": "number"}, "1e3", 1000.0)
        self.expect({"type": "number"}, "12", 12)
        self.expect({"type": "number"}, 3, 3)

    def test_truths_in_texts_and_numbers(self):
        for said in ("true", "True", "yes", "on", "1", 1):
            self.expect({"type": "boolean"}, said, True)
        for said in ("false", "NO", "off", "0", 0):
            self.expect({"type": "boolean"}, said, False)

    def test_json_in_texts_where_a_list_or_object_is_wanted(self):
        numbers = {"type": "array", "items": {"type": "integer"}}
        self.expect(numbers, '[1, "2"]', [1, 2])
        self.expect({"type": "object", "properties": {"x": numbers}}, '{"x": "[3]"}', {"x": [3]})
        self.expect({"anyOf": [{"type": "array"}, {"type": "null"}]}, "[]", [])

    def test_a_text_stays_one_where_a_text_will_do(self):
        self.expect({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "10", "10")
        self.expect({"anyOf": [{"type": "array"}, {"type": "string"}]}, "[1]", "[1]")
        self.expect({"type": ["array", "string"]}, "[1]", "[1]")
        self.expect({"type": "string"}, "null", "null")
        self.expect({}, "10", "10")

    def test_null_in_a_text_only_where_nothing_else_fits(self):
        self.expect({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "null", None)

    def test_choices_in_texts(self):
        self.expect({"enum": [1, 2]}, "2", 2)
        self.expect({"enum": ["1", 1]}, "1", "1")
        self.expect({"const": True}, "true", True)

    def test_what_is_not_given_stays_away(self):
        found, issues = arguments.check(schema_of({"a": {"type": "integer", "default": 3}}), {})
        self.assertEqual((found, issues), ({}, []))


class Refusal(unittest.TestCase):
    def expect(self, kind, value, sentence):
        self.assertEqual(refused(kind, value), [sentence])

    def test_says_what_is_wanted_and_what_came(self):
        self.expect({"type": "integer"}, "ten", 'a: expected a whole number, got the text "ten"')
        self.expect({"type": "integer"}, 1.5, "a: expected a whole number, got 1.5")
        self.expect({"type": "integer"}, True, "a: expected a whole number, got true")
        self.expect({"type": "string"}, 5, "a: expected a text, got 5")
        self.expect({"type": "boolean"}, 2, "a: expected true or false, got 2")
        self.expect({"type": "array"}, {}, "a: expected a list, got an empty object")
        self.expect({"type": "object"}, [1, 2], "a: expected an object, got a list of 2")
        self.expect({"enum": ["red", "blue"]}, "green", 'a: expected one of "red", "blue", got the text "green"')
        self.expect({"const": 1}, True, "a: expected 1, got true")
        self.expect({"not": {"type": "integer"}}, 5, "a: must be something else than 5")
        self.expect(False, 5, "a: must not be given")

    def test_bounds(self):
        self.expect({"type": "integer", "minimum": 3}, "2", "a: expected at least 3, got 2")
        self.expect({"type": "number", "exclusiveMaximum": 1}, 1, "a: expected less than 1, got 1")
        self.expect({"type": "number", "maximum": 1}, "nan", "a: expected at most 1, got NaN")
        self.expect({"type": "number", "multipleOf": 0.1}, 0.25, "a: expected a multiple of 0.1, got 0.25")
        self.assertEqual(checked({"type": "number", "multipleOf": 0.1}, 0.3), 0.3)
        self.expect({"type": "string", "maxLength": 2}, "abc", "a: expected at most 2 characters, got 3")
        self.expect({"type": "array", "minItems": 1}, [], "a: expected at least 1 items, got 0")
        self.expect({"type": "array", "uniqueItems": True}, [1, 1], "a: must not hold anything twice")
        self.expect({"type": "string", "pattern": "^x+$"}, "y", 'a: expected a text that matches ^x+$, got the text "y"')

    def test_patterns_can_be_left_to_others(self):
        endless = {"type": "string", "pattern": "^(a+)+$", "maxLength": 50}
        schema = schema_of({"a": endless, "b": {"not": endless}, "c": {"anyOf": [endless, WHOLE]}})
        given = dict.fromkeys("abc", "a" * 40 + "!")
        self.assertEqual(arguments.check(schema, given, tries_patterns=False), (given, []))
        _, (issue,) = arguments.check(schema, {"a": "a" * 51}, tries_patterns=False)
        self.assertIn("at most 50 characters", issue)

    def test_choices_within_choices_come_to_an_end(self):
        branch = {"type": "object", "properties": {"in": {"anyOf": [{"$ref": "#/$defs/one"}, {"$ref": "#/$defs/two"}]}}}
        schema = schema_of({"a": {"$ref": "#/$defs/one"}}, **{"$defs": {"one": branch, "two": {**branch, "minProperties": 1}}})
        value = 3
        for _ in range(24):
            value = {"in": value}
        _, issues = arguments.check(schema, {"a": value})
        self.assertEqual(issues, ["The arguments cannot be checked: there are too many ways to read them"])

    def test_formats(self):
        self.expect({"type": "string", "format": "date"}, "2024-02-30",
                    'a: expected a date such as 2025-01-31, got the text "2024-02-30"')
        examples = {"date-time": "2024-02-29T10:00:00Z", "date": "2024-02-29", "time": "10:00", "duration": "PT1H",
                    "uuid": "12345678-1234-5678-1234-567812345678"}
        for form, good in examples.items():
            self.assertEqual(checked({"type": "string", "format": form}, good), good)
            self.assertEqual(len(refused({"type": "string", "format": form}, "tomorrow")), 1, form)
        self.assertEqual(checked({"type": "string", "format": "of somebody else"}, "x"), "x")

    def test_names_the_place_inside(self):
        rows = {"type": "array", "items": {"$ref": "#/$defs/Row"}}
        row = schema_of({"price": {"type": "number"}}, ["price"], additionalProperties=False)
        schema = schema_of({"rows": rows}, **{"$defs": {"Row": row}})
        _, issues = arguments.check(schema, {"rows": [{"price": 1}, {"price": "x"}, {"prize": 1}]})
        self.assertEqual(issues, [
            'rows.1.price: expected a number, got the text "x"',
            "rows.2.price: is missing; it must be a number",
            'rows.2.prize: is not known; do you mean "price"?',
        ])

    def test_of_a_union_the_branch_that_was_meant(self):
        either = {"anyOf": [schema_of({"x": {"type": "integer"}}, ["x"]), {"type": "string"}]}
        self.expect(either, {"x": "?"}, 'a.x: expected a whole number, got the text "?"')
        self.expect(either, 5, "a: expected an object or a text, got 5")
        maybe = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
        self.expect(maybe, "?", 'a: expected a whole number, got the text "?"')

    def test_of_null_says_how_to_get_the_default(self):
        self.expect({"type": "integer"}, None, "a: expected a whole number, got null; leave it out to get its default")

    def test_names_that_are_missing_or_not_known(self):
        _, issues = arguments.check(schema_of({"count": {"type": "integer"}}, ["count"]), {"cuont": 1})
        self.assertEqual(issues, ["count: is missing; it must be a whole number", 'cuont: is not known; do you mean "count"?'])
        self.assertEqual(arguments.check(schema_of({}), {"x": 1})[1], ["x: is not known; there are none"])
        self.assertEqual(arguments.check(schema_of({}, additionalProperties=True), {"x": 1}), ({"x": 1}, []))

    def test_tuples(self):
        pair = {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False}
        self.assertEqual(checked(pair, ["1", "x"]), [1, "x"])
        self.expect(pair, [1, "x", 2], "a.2: is one too many; 2 are wanted")


class Hostile(unittest.TestCase):
    def test_arguments_that_are_no_object(self):
        self.assertEqual(arguments.check({}, [1])[1], ["The arguments: expected an object, got a list of 1"])

    def test_deep_arguments_and_schemas_that_refer_to_themselves(self):
        deep = []
        for _ in range(900):
            deep = [deep]
        tree = {"type": "array", "items": {"$ref": "#/properties/a"}}
        self.assertRegex(refused(tree, deep)[0], r"^a(\.0)+: is nested more than 100 deep")
        self.assertIn("nested", refused({"$ref": "#/properties/a"}, 1)[0])
        self.assertIn("nested", refused({"anyOf": [{"$ref": "#/properties/a"}]}, 1)[0])
        self.assertEqual(checked({}, deep), deep)
        self.assertEqual(len(refused({"type": "array"}, "[" * 100_000)), 1)

    def test_schemas_of_any_form(self):
        for kind in (5, None, [], "x", {"type": 5}, {"type": [5]}, {"type": "nothing"}, {"enum": 5},
                     {"required": 5, "type": "object"}, {"properties": []}, {"items": 5}, {"prefixItems": 5}, {"anyOf": 5},
                     {"$ref": 5}, {"$ref": "#/no/where"},
                     {"$ref": "https://example.org/x"}, {"pattern": "("}, {"pattern": "a{99999999999}"}, {"format": []},
                     {"minimum": "x"}, {"multipleOf": 0}, {"minLength": None}, {"additionalProperties": 5}, {"anyOf": []}):
            for value in (1, "x", [1], {"x": 1}, None, True):
                _, issues = arguments.check(schema_of({"a": kind}), {"a": value})
                self.assertTrue(all(type(issue) is str for issue in issues), (kind, value))
        self.assertEqual(arguments.check(5, {"a": 1})[1], ["a: is not known; there are none"])

    def test_issues_are_few_and_short(self):
        numbers = {"type": "array", "items": {"type": "integer"}}
        issues = refused(numbers, ["x" * 10_000] * 10_000)
        self.assertEqual(len(issues), 20)
        self.assertLess(max(map(len, issues)), 200)
        self.assertEqual(len(arguments.check(schema_of({}, [str(number) for number in range(100)]), {})[1]), 20)
        _, issues = arguments.check(schema_of({}), {"k" * 100_000: 1})
        self.assertLess(len(issues[0]), 300)

    def test_huge_numbers(self):
        self.assertRegex(refused({"type": "string"}, 10**5000)[0], "^a: expected a text, got (1000+…|a huge number)$")
        self.assertEqual(len(refused({"type": "integer"}, "9" * 5001)), 1)
        self.assertEqual(len(refused({"type": "integer"}, float("inf"))), 1)


if __name__ == "__main__":
    unittest.main()
