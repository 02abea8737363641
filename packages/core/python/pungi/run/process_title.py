"""The identity of a worker in /proc: its name, command line and variables are those of `python main.py`, not of the fork server.

The fork server moves the place where the kernel looks for them to a separate page, before a filter forbids it; workers
only write to the page. The kernel shows a command line as it is if the last byte of its place is zero. If not, the process has
written a title over it: one text, which ends with the first zero byte. So words that do not fit are shown as a title.
"""

import contextlib
import ctypes
import mmap
import os

from ..jail import system

_USUAL = b"python\0main.py\0"
_PR_SET_MM, _PR_SET_MM_MAP = 35, 14
# The positions of these in /proc/self/stat, after the name of the command.
_STAT = {"start_code": 23, "end_code": 24, "start_stack": 25, "start_data": 42, "end_data": 43, "start_brk": 44}
_SAME_FILE = 0xFFFFFFFF
# Holds the words and then the variables; None if the kernel does not let their places be moved.
_page = None


class _MemoryMap(ctypes.Structure):
    """struct prctl_mm_map"""

    _fields_ = [
        *((name, ctypes.c_uint64) for name in (
            "start_code", "end_code", "start_data", "end_data", "start_brk", "brk", "start_stack", "arg_start", "arg_end",
            "env_start", "env_end", "auxv",
        )),
        ("auxv_size", ctypes.c_uint32), ("exe_fd", ctypes.c_uint32),
    ]


def prepare():
    """In the fork server, which keeps its own command line, as a title."""
    global _page
    with contextlib.suppress(OSError):
        page = mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        with open("/proc/self/cmdline", "rb") as file:
            _write(page, file.read().rstrip(b"\0").split(b"\0"))
        _move_words(ctypes.addressof(ctypes.c_char.from_buffer(page)))
        _page = page


def _move_words(start):
    """A title may be longer than the words were only if the variables follow them."""
    with open("/proc/self/stat", "rb") as file:
        values = file.read().rpartition(b")")[2].split()
    about = _MemoryMap(**{name: int(values[index]) for name, index in _STAT.items()})
    about.brk, about.exe_fd = system.end_of_heap(), _SAME_FILE
    about.arg_start, about.arg_end = start, start + len(_USUAL)
    about.env_start, about.env_end = about.arg_end, start + mmap.PAGESIZE
    system.prctl(_PR_SET_MM, _PR_SET_MM_MAP, ctypes.addressof(about), ctypes.sizeof(about))


def _write(page, words):
    text = b"\0".join((*words, b""))
    if len(text) > len(_USUAL):
        text = b" ".join(words) + b"\0"
    variables = b"".join(b"%s=%s\0" % variable for variable in os.environb.items())
    page[:] = (text.ljust(len(_USUAL), b"\0") + variables)[: len(page) - 1].ljust(len(page), b"\0")


def settle():
    """In a worker, once it knows its folders."""
    if system.IS_LINUX:
        system.set_name(b"python")
    if _page is not None:
        _write(_page, _USUAL.split(b"\0")[:-1])


def show(arguments):
    """The words that follow `python`, unless they are the usual ones."""
    if _page is not None and arguments != ["main.py"]:
        _write(_page, [word.encode("utf-8", "surrogatepass") for word in ("python", *arguments)])
