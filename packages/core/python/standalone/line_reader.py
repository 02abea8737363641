"""Reads lines from a file descriptor; memory stays bounded, however long they are."""

import os

_CHUNK = 65536


def read_lines(descriptor, longest, read=os.read):
    """Yields each line without its end; None in place of one that is too long, which is never held as a whole."""
    pending, size, is_too_long = [], 0, False
    while True:
        chunk = read(descriptor, _CHUNK)
        if not chunk:
            break
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            part = chunk[start:end]
            is_too_long = is_too_long or size + len(part) > longest
            yield None if is_too_long else b"".join((*pending, part))
            pending, size, is_too_long, start = [], 0, False, end + 1
        rest = chunk[start:]
        size += len(rest)
        if is_too_long or size > longest:
            pending, is_too_long = [], True
        elif rest:
            pending.append(rest)
    # An unfinished last line counts, too: a file need not end with a newline.
    if is_too_long or pending:
        yield None if is_too_long else b"".join(pending)
