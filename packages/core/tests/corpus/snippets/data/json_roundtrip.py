import json
data = {"name": "Zoë", "items": [1, 2.5, None, True], "nested": {"a": {"b": []}}}
text = json.dumps(data, indent=2, ensure_ascii=False, sort_keys=True)
print(text)
print(json.loads(text) == data, json.dumps(data, separators=(",", ":")), json.dumps(float("nan")))
try:
    json.loads('{"a": 1,}')
except json.JSONDecodeError as error:
    print(error, error.lineno, error.colno)
