"""With packages that people's scripts use, where this interpreter has them."""

import sys
import types
import unittest

import python_half  # noqa: F401
from discovered import needs
from pungi.calls import call, results



def called(source, **arguments):
    """What the function of a script gives, as it is told; or what is wrong with its arguments."""
    module = sys.modules["packages"] = types.ModuleType("packages")
    try:
        exec(source, module.__dict__)
        function, positional, named, issues = call.prepare_call(module.__dict__, "function", arguments)
        return issues or results.describe_result(call.perform_call(function, positional, named))
    finally:
        del sys.modules["packages"]


@needs("pydantic")
class Pydantic(unittest.TestCase):
    MODELS = """
import datetime, typing, pydantic
from pydantic import BaseModel, Field
class Row(BaseModel):
    price: float = Field(gt=0)
    day: typing.Optional[datetime.date] = None
"""

    def test_models_are_built_and_written(self):
        function = "def function(row: Row, rows: typing.List[Row] = []):\n assert type(row) is Row\n return [row, *rows]"
        source = self.MODELS + function
        about = called(source, row={"price": "1.5", "day": "2024-01-02"}, rows='[{"price": 2}]')
        self.assertEqual(about["json"], [{"price": 1.5, "day": "2024-01-02"}, {"price": 2.0, "day": None}])
        [issue] = called(source, row={"price": 1}, rows=[{"price": 1}, {"price": -1}])
        self.assertRegex(issue, r"^rows\.1\.price: is not accepted: .*greater than 0; got -1$")

    def test_fields_in_signatures(self):
        function = "def function(count: typing.Annotated[int, Field(gt=3)]): return count"
        self.assertEqual(called(self.MODELS + function, count="5")["json"], 5)
        [issue] = called(self.MODELS + function, count=2)
        self.assertRegex(issue, "^count: .*greater than 3; got 2$")
        self.assertEqual(called(self.MODELS + "def function(count: int = Field(7, gt=3)): return count")["json"], 7)
        self.assertEqual(called(self.MODELS + "def function(count: int = Field(gt=3)): return count"), ["count: is missing"])

    def test_types_of_its_own(self):
        function = "def function(address: pydantic.HttpUrl, count: pydantic.PositiveInt): return [str(address), address, count]"
        self.assertEqual(called(self.MODELS + function, address="http://example.org", count="3")["json"],
                         ["http://example.org/", "http://example.org/", 3])

    def test_its_dataclasses(self):
        source = self.MODELS + "@pydantic.dataclasses.dataclass\nclass P:\n x: int\ndef function(p: P): return p"
        self.assertEqual(called(source, p={"x": "1"})["json"], {"x": 1})


@needs("numpy")
class Numpy(unittest.TestCase):
    def test_arrays_and_numbers(self):
        source = """
import numpy
def function(values: numpy.ndarray, one: numpy.int64 = 3):
    assert type(values) is numpy.ndarray and type(one) is numpy.int64
    return {"twice": values * 2, "mean": values.mean(), "any": values.any(), "one": one, "no": numpy.array([1.5, numpy.nan]),
            "day": numpy.datetime64("2024-01-02"), "zero": numpy.array(5), "small": numpy.float32(0.5)}
"""
        self.assertEqual(called(source, values=[1, 2], one="4")["json"],
                         {"twice": [2, 4], "mean": 1.5, "any": True, "one": 4, "no": [1.5, None], "day": "2024-01-02",
                          "zero": 5, "small": 0.5})

    def test_an_array_that_is_too_large_is_not_looked_through(self):
        source = """
import numpy
class Watched(numpy.ndarray):
    def tolist(self):
        raise ValueError("looked through")
def function(): return numpy.zeros(50_000_000, dtype="int8").view(Watched)
"""
        about = called(source)
        self.assertNotIn("json", about)
        self.assertIn("larger than", about["note"])


@needs("pandas")
class Pandas(unittest.TestCase):
    def test_a_table_is_a_list_of_rows(self):
        source = """
import pandas
def function(rows: pandas.DataFrame):
    assert type(rows) is pandas.DataFrame
    return rows
"""
        about = called(source, rows=[{"a": 1, "b": "x"}, {"a": None, "b": "y"}])
        self.assertEqual(about["json"], [{"a": 1.0, "b": "x"}, {"a": None, "b": "y"}])
        self.assertNotIn("note", about)

    def test_an_index_that_says_something_is_a_column(self):
        table = "pandas.DataFrame({'g': ['x', 'y', 'x'], 'n': [1, 2, 3]})"
        source = f"import pandas\ndef function(): return {table}.groupby('g').sum()"
        self.assertEqual(called(source)["json"], [{"g": "x", "n": 4}, {"g": "y", "n": 2}])

    def test_moments_and_what_is_absent(self):
        source = """
import pandas
def function():
    frame = pandas.DataFrame({"t": pandas.to_datetime(["2024-01-02", None]), "n": pandas.array([1, None], dtype="Int64")})
    return {"frame": frame, "series": pandas.Series([1.5, None], index=["a", "b"]), "list": pandas.Series([1, 2]),
            "span": pandas.Timedelta("1h"), "none": [pandas.NaT, pandas.NA]}
"""
        self.assertEqual(called(source)["json"], {
            "frame": [{"t": "2024-01-02T00:00:00", "n": 1}, {"t": None, "n": None}], "series": {"a": 1.5, "b": None},
            "list": [1, 2], "span": "PT1H", "none": [None, None],
        })


class Pictures(unittest.TestCase):
    def expect_picture(self, about):
        self.assertEqual([(each["kind"], each["mimeType"]) for each in about["content"]], [("image", "image/png")])
        self.assertTrue(about["content"][0]["base64"].startswith("iVBORw0KGgo"))
        self.assertNotIn("json", about)

    @needs("PIL")
    def test_images(self):
        for mode in ("RGB", "RGBA", "L", "P", "1", "CMYK", "F"):
            self.expect_picture(called(f"from PIL import Image\ndef function(): return Image.new({mode!r}, (3, 3))"))

    @needs("matplotlib")
    def test_figures_and_axes(self):
        source = "import matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\n"
        self.expect_picture(called(source + "def function(): return figure"))
        self.expect_picture(called(source + "def function(): return axes"))

    @needs("matplotlib")
    def test_figures_that_are_not_given_back_are_not_taken(self):
        source = "import matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\ndef function(): plt.plot([1, 2])"
        self.assertEqual(called(source), {"type": "NoneType", "repr": "None", "json": None})


@needs("attr")
class Attrs(unittest.TestCase):
    def test_classes_are_built_and_written(self):
        source = "import attr\n@attr.s(auto_attribs=True)\nclass A:\n x: int\n y: str = 'q'\ndef function(a: A): return a"
        self.assertEqual(called(source, a={"x": "1"})["json"], {"x": 1, "y": "q"})
        self.assertEqual(called(source, a={"z": 1}), ["a.z: is not known; there are x, y"])


if __name__ == "__main__":
    unittest.main()
