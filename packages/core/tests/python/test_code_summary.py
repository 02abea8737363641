import unittest

import python_half  # noqa: F401
from pungi.scope.code_summary import summarize

ANALYSIS = """
import pandas as pd
from numpy import linalg
import numpy as np

source = "sales" + ".csv"
df = pd.read_csv(source)
more = pd.read_excel(io="costs.xlsx")
weights = np.load("weights.npy")

def margin(row):
    return row.value - row.cost

class Report:
    async def draw(self):
        df.plot.bar()

df.apply(margin, axis=1).to_csv("margins.csv")
np.save("out.npy", weights)
"""


class Summarize(unittest.TestCase):
    def test_an_analysis(self):
        text = (
            "Python code of 19 lines that uses pandas and numpy, reads sales.csv, costs.xlsx and weights.npy, works with "
            "data frames, draws plots, writes margins.csv and out.npy and defines margin and draw."
        )
        self.assertEqual(summarize(ANALYSIS), {
            "imports": ["pandas", "numpy"],
            "reads": ["sales.csv", "costs.xlsx", "weights.npy"],
            "writes": ["margins.csv", "out.npy"],
            "plots": True,
            "dataFrames": True,
            "functions": ["margin", "draw"],
            "lines": 19,
            "text": text,
        })

    def test_what_is_imported_for_it_counts_where_it_is_used(self):
        summary = summarize('np.save("a.npy", np.ones(3))\nstatistics = 1', ["pandas", "numpy as np", "statistics", "os.path"])
        self.assertEqual((summary["imports"], summary["writes"]), (["numpy"], ["a.npy"]))
        self.assertEqual(summarize("os.sep", ["os.path"])["imports"], ["os.path"])

    def test_the_mode_says_whether_a_file_is_read_or_written(self):
        for source, reads, writes in (
            ("open('a')", ["a"], []),
            ("open('a', 'w')", [], ["a"]),
            ("open('a', mode='ab')", [], ["a"]),
            ("from pathlib import Path\nPath('a').open('w')", [], ["a"]),
            ("from pathlib import Path\nPath('a').read_text()", ["a"], []),
            ("from pathlib import Path\nPath('a').write_text('b')", [], ["a"]),
            ("shop.open('monday')", [], []),
            ("json.load(file)\nmodel.save('x')", [], []),
        ):
            with self.subTest(source=source):
                about = summarize(source)
                self.assertEqual((about["reads"], about["writes"]), (reads, writes))

    def test_a_file_whose_name_only_the_run_knows_is_mentioned(self):
        about = summarize("for name in names:\n    pd.read_csv(name).to_csv(name + '.out')")
        self.assertEqual((about["reads"], about["writes"]), ([], []))
        self.assertIn("reads files named while it runs", about["text"])
        self.assertIn("writes files named while it runs", about["text"])

    def test_words_in_comments_and_texts_are_nothing(self):
        about = summarize("# import os\nx = 'import sys; open(1)'\n")
        self.assertEqual((about["imports"], about["reads"], about["text"]), ([], [], "Python code of 2 lines."))

    def test_a_library_for_plots_is_enough(self):
        self.assertTrue(summarize("import matplotlib.pyplot as plt")["plots"])
        self.assertFalse(summarize("plot = 1\nprint(plot)")["plots"])

    def test_what_is_no_python_has_its_lines(self):
        about = summarize("1 +\n2 (")
        self.assertEqual((about["lines"], about["imports"], about["text"]), (2, [], "Text of 2 lines that is not Python."))

    def test_long_lists_are_cut_in_the_sentence(self):
        about = summarize("\n".join(f"import module{number}" for number in range(80)))
        self.assertEqual(len(about["imports"]), 50)
        self.assertIn("module4 and 45 more", about["text"])

    def test_relative_imports_keep_their_dots(self):
        self.assertEqual(summarize("from . import a\nfrom ..b import c")["imports"], [".", "..b"])


if __name__ == "__main__":
    unittest.main()
