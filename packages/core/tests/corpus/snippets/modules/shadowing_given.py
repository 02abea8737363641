# files: {"random.py": "def randint(a, b): return 'own'", "json/__init__.py": "from . import decoder\nloads = decoder.loads", "json/decoder.py": "def loads(text): return 'own'", "queue.py": "import json\nQueue = json.loads", "signal.py": "SIGINT = 'own'", "selectors/data.txt": "no module"}
import json, queue, random, selectors, signal
print(random.randint(1, 2), json.loads("1"), json.decoder.__name__, queue.Queue(""), signal.SIGINT, hasattr(selectors, "select"))
try:
    import json.encoder
except ImportError as error:
    print(error)
