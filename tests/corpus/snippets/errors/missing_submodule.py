import json.nothing
