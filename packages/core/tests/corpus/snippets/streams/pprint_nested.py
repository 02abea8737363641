from pprint import pprint, pformat
data = {"users": [{"name": f"user{n}", "tags": ["a", "b"] * n, "id": n} for n in range(4)], "total": 4}
pprint(data)
pprint(data, width=40, compact=True, sort_dicts=False)
print(pformat({1: {2: {3: {4: 5}}}}, depth=2))
