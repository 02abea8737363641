"""Makes the Python half importable, however the tests are started. Imported first by every test."""

import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "python"
if str(FOLDER) not in sys.path:
    sys.path.insert(0, str(FOLDER))
