# files: {"helpers/__init__.py": "", "helpers/maths.py": "def double(x):\n    return 2 * x\n", "settings.py": "NAME = 'given'\n"}
import settings
from helpers.maths import double
print(settings.NAME, double(21))
