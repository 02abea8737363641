"""Moves the memory of the fork server into a file, which all that it forks have in common.

A fork copies the page table of memory that belongs to no file, page by page, and the end of a process takes it down again: with pandas
that is most of what a run costs. Private mappings of a file are copied as they are used. No run can write the file: its descriptor
is closed, and a page that a process writes to becomes its own, as after any fork.

Only memory is moved of which it is known who frees it, and how: an allocator that gives pages back with MADV_DONTNEED expects zeros
in them, and would find the contents of the file.

The file has huge pages where the kernel has any. The code of the interpreter comes first in it, at a place where a process sees a huge page
as one: else every run would find its code in hundreds of small ones, and let go of them.
"""

import ctypes
import fcntl
import gc
import mmap
import os
import re
import signal
import sys

from ..jail import system

# It keeps the GIL: nothing else may run meanwhile.
_libc = ctypes.PyDLL(None) if os.name == "posix" else None
_PROTECTION = {"r": mmap.PROT_READ, "w": mmap.PROT_WRITE}
_MAP_FIXED = 0x10
_HUGE, _MADV_COLLAPSE = 2 << 20, 25
# The interpreter has its small objects in pools of this size, and 64 of them in an arena, which it unmaps as a whole.
_POOL_BITS, _POOLS_IN_ARENA = 14, 64
# A part of a library that the linker has mapped: start, end, protection, offset, and the rest, which names the file.
_SEGMENT = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (r--|r-x)p ([0-9a-f]+) (\S+ [1-9]\d* +/.*)")
_HEADER = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (r[-w])-p \S+ \S+ \S+ *(.*)")
_CODE = re.compile(r"([0-9a-f]+)-([0-9a-f]+) r-xp ")
# The size of a ucontext_t, which is 4560 bytes on aarch64, and of a stack for one system call.
_CONTEXT, _STACK = 8192, 16384


def make(size):
    """In the guard: a file without a name, which nobody can make larger."""
    file = os.memfd_create("memory", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(file, size)
        _use_huge_pages(file, size // _HUGE * _HUGE)
        os.posix_fallocate(file, 0, size)
        fcntl.fcntl(file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
    except BaseException:
        os.close(file)
        raise
    return file


def _use_huge_pages(file, size):
    """Asks the kernel for huge pages. Where it refuses, they stay small; before Linux 6.1 it does not know the request."""
    if size == 0:
        return
    for position in range(0, size, _HUGE):
        os.posix_fallocate(file, position, 1)  # what has no page yet has none that could become a huge one
    room = mmap.mmap(-1, size + _HUGE)
    first = -(-ctypes.addressof(ctypes.c_char.from_buffer(room)) // _HUGE) * _HUGE
    start, length = ctypes.c_void_p(first), ctypes.c_size_t(size)
    flags = mmap.MAP_SHARED | _MAP_FIXED
    if _libc.mmap(start, length, mmap.PROT_READ | mmap.PROT_WRITE, flags, file, ctypes.c_long(0)) != -1:
        _libc.madvise(start, length, _MADV_COLLAPSE)
    room.close()


def prepare():
    """Joins mappings. Returns the memory to move: (first address, size, protection); empty where this cannot be done. `gc.freeze` comes after
    it."""
    if not (system.IS_LINUX and hasattr(_libc, "makecontext")) or "t" in sys.abiflags:  # free-threaded: it has another allocator
        return []
    _join_segments()
    return [*_code_of_interpreter(), *_merged(_ranges())]


def _join_segments():
    """Makes one mapping of the code of a library and of the constants before and after it, which may all be executed then, as linkers have
    laid them out for decades. A fork copies each mapping, and the end of a process removes it: with pandas there are hundreds."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        segments = [match.groups() for match in map(_SEGMENT.match, file) if match]
    joined = []
    for start, end, access, offset, name in segments:
        start, end, offset = int(start, 16), int(end, 16), int(offset, 16)
        last = joined[-1] if joined else None
        if last and (last["end"], last["next"], last["name"]) == (start, offset, name):
            last.update(end=end, next=offset + end - start, has_code=last["has_code"] or access == "r-x")
        else:
            joined.append({"start": start, "end": end, "next": offset + end - start, "name": name, "has_code": access == "r-x"})
    for each in joined:
        if each["has_code"]:
            # Where this is refused, they stay apart.
            _libc.mprotect(ctypes.c_void_p(each["start"]), ctypes.c_size_t(each["end"] - each["start"]), mmap.PROT_READ | mmap.PROT_EXEC)


def _code_of_interpreter():
    """Yields the part of the code that fills whole huge pages, as memory to move."""
    inside = ctypes.cast(ctypes.pythonapi.Py_IsInitialized, ctypes.c_void_p).value
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        for start, end in ((int(match[1], 16), int(match[2], 16)) for match in map(_CODE.match, file) if match):
            first, last = -(-start // _HUGE) * _HUGE, end // _HUGE * _HUGE
            if start <= inside < end and first < last:
                yield first, last - first, mmap.PROT_READ | mmap.PROT_EXEC


def _ranges():
    """Yields memory to move whose allocator is known: that of libraries, of malloc and of the interpreter."""
    gc.unfreeze()  # only then are all objects listed
    pools = sorted({id(each) >> _POOL_BITS for each in gc.get_objects()})
    for start, end, access, name in _private_mappings():
        protection = sum(_PROTECTION.get(letter, 0) for letter in access)
        if name == "[heap]":
            end -= mmap.PAGESIZE  # a run sees that it has one
        if name.startswith("/") or name == "[heap]":
            yield start, end - start, protection
        elif not name and access == "rw":
            yield from ((first, last - first, protection) for first, last in _arenas(start, end, pools))


def _merged(ranges):
    """Ranges next to each other become one, which may be written to if one of them may: the linker protects what it has relocated."""
    last = None
    for start, size, protection in ranges:
        if last and last[0] + last[1] == start:
            last = last[0], last[1] + size, last[2] | protection
        else:
            if last:
                yield last
            last = start, size, protection
    if last:
        yield last


def move(ranges, file):
    """`file`: the descriptor of a file of this size, all of which exists already: nothing here can fail."""
    copy = mmap.mmap(file, sum(size for _, size, _ in ranges))
    copy_start, offset, calls = ctypes.addressof(ctypes.c_char.from_buffer(copy)), 0, []
    for start, size, protection in ranges:
        calls.append((_libc.memcpy, (copy_start + offset, start, size)))
        calls.append((_libc.mmap, (start, size, protection, mmap.MAP_PRIVATE | _MAP_FIXED, file, offset)))
        offset += size
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        _call_one_after_the_other(calls)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _private_mappings():
    """Yields mappings with pages of their own, without code: start, end, protection and name."""
    found = None
    with open("/proc/self/smaps", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            if match := _HEADER.match(line):
                found = int(match[1], 16), int(match[2], 16), match[3], match[4]
            elif line[0] in "0123456789abcdef":
                found = None
            elif found and line.startswith("Anonymous:") and int(line.split()[1]) > 0:
                yield found


def _arenas(start, end, pools):
    """Returns the parts of a mapping that are the interpreter's; others may be between them. A part goes from pool to pool, as long as no
    arena fits between two."""
    spans = []
    for pool in pools:
        if start <= pool << _POOL_BITS and pool + 1 << _POOL_BITS <= end:
            if spans and pool - spans[-1][1] < _POOLS_IN_ARENA:
                spans[-1][1] = pool + 1
            else:
                spans.append([pool, pool + 1])
    return [(first << _POOL_BITS, last << _POOL_BITS) for first, last in spans]


def _call_one_after_the_other(calls):
    """Python changes the memory that is to be moved at every step, so none runs between these calls: each is a context of libc
    that is followed by the next one."""
    area = mmap.mmap(-1, (_CONTEXT + _STACK) * (len(calls) + 1), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    here = ctypes.addressof(ctypes.c_char.from_buffer(area))
    contexts = [here + number * _CONTEXT for number in range(len(calls) + 1)]
    stacks = here + len(contexts) * _CONTEXT
    for number, (function, arguments) in enumerate(calls):
        context = contexts[number + 1]
        _libc.getcontext(ctypes.c_void_p(context))
        about = _Context.from_address(context)
        about.next = contexts[(number + 2) % len(contexts)]
        about.stack, about.stack_size = stacks + number * _STACK, _STACK
        _libc.makecontext(ctypes.c_void_p(context), function, len(arguments), *map(ctypes.c_long, arguments))
    _libc.swapcontext(ctypes.c_void_p(contexts[0]), ctypes.c_void_p(contexts[1]))


class _Context(ctypes.Structure):
    """The beginning of a ucontext_t, the same on x86_64 and aarch64."""

    _fields_ = [
        ("flags", ctypes.c_ulong), ("next", ctypes.c_void_p), ("stack", ctypes.c_void_p), ("stack_flags", ctypes.c_int),
        ("stack_size", ctypes.c_size_t),
    ]
