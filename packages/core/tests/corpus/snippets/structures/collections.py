from collections import ChainMap, OrderedDict, defaultdict, deque, namedtuple
groups = defaultdict(list)
for word in ("apple", "bob", "avocado", "banana"):
    groups[word[0]].append(word)
print(groups, dict(groups))
window = deque(maxlen=3)
for n in range(5):
    window.append(n)
window.rotate(1)
print(window, ChainMap({"a": 1}, {"a": 2, "b": 3})["b"], OrderedDict(x=1), namedtuple("P", "x y", defaults=[0])(5))
