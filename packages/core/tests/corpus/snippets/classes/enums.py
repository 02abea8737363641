from enum import Enum, Flag, IntEnum, auto, unique
class Color(Enum):
    RED = 1
    GREEN = auto()
class Perm(Flag):
    R = auto(); W = auto(); X = auto()
class Level(IntEnum):
    LOW = 1; HIGH = 5
print(Color.RED, repr(Color(2)), list(Color), Color["RED"].value, Perm.R | Perm.W, Perm.R in (Perm.R | Perm.X), Level.HIGH > 3, f"{Level.LOW}")
try:
    Color(9)
except ValueError as error:
    print(error)
@unique
class Bad(Enum):
    A = 1
    B = 1
