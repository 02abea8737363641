import re
from typing import NamedTuple
class Token(NamedTuple):
    kind: str
    value: str
def tokenize(code):
    for match in re.finditer(r"(?P<NUM>\d+(\.\d*)?)|(?P<OP>[-+*/()])|(?P<SKIP>\s+)|(?P<BAD>.)", code):
        if match.lastgroup == "BAD":
            raise SyntaxError(f"unexpected {match.group()!r}")
        if match.lastgroup != "SKIP":
            yield Token(match.lastgroup, match.group())
print(list(tokenize("3.5 * (2 + 1)")))
list(tokenize("1 $ 2"))
