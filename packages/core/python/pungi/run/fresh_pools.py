"""Makes the interpreter put new objects next to each other, so that a new process writes to few pages.

The memory of small objects is in pools, each for one size. Objects that were deleted leave holes in them, and new objects fill the holes
first: those of a script are then on as many pages, and each is copied when it is written to.
"""

import functools
import sys

# The bounds of CPython: sizes are multiples of 16, and a pool has 16 KiB, the first 48 bytes of which describe it.
_POOL, _HEADER = 1 << 14, 48
_MOST_HOLES = 100_000
_EMPTY = sys.getsizeof(b"")
# Each makes an object of a size.
_MAKERS = {16: object, 32: functools.partial(pow, 2, 40), **{size: functools.partial(bytes, size - _EMPTY) for size in range(48, 513, 16)}}

_fillers = []


def begin():
    """Fills the holes, until the next object of each size is in a new pool."""
    for make in _MAKERS.values():
        for _ in range(_MOST_HOLES):
            filler = make()
            _fillers.append(filler)
            if id(filler) % _POOL == _HEADER:
                break
