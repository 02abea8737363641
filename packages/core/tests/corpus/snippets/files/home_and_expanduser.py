import os
from pathlib import Path
print(Path.home() == Path(os.environ["HOME"]), os.path.expanduser("~/x") == os.environ["HOME"] + "/x")
print(os.access(Path.home(), os.W_OK))
