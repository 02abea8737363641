data = {"a": {"b": [1, 2, 3]}}
value = data["a"]["b"][1] + data["a"]["c"][0] * 2
