import copy, pickle
from dataclasses import dataclass, field
@dataclass
class Node:
    name: str
    children: list = field(default_factory=list)
tree = Node("root", [Node("leaf")])
tree.children.append(tree)
again = pickle.loads(pickle.dumps(tree))
print(again.name, again.children[0], again.children[1] is again, type(again) is Node)
print(copy.deepcopy(tree).children[1] is not tree)
try:
    pickle.dumps(lambda: 0)
except Exception as error:
    print(type(error).__name__, str(error).split(":")[0])
