"""The output of a call: kept up to the limits, and streamed line by line as it is produced."""

import codecs
import os

_MOST_CHARACTERS = 1024 * 1024


class OutputLines:
    """Both streams of one call. `on_line(stream, text)` is called for every line, and for the beginning of a line that the
    script does not finish soon."""

    def __init__(self, settings, flushes, on_line):
        import threading

        self._settings = settings
        self._flushes = flushes
        self._on_line = on_line
        self._lock = threading.Lock()
        self._kept = {"stdout": [], "stderr": []}
        self._unsent = {"stdout": "", "stderr": ""}
        self._is_begun = {"stdout": False, "stderr": False}
        self._alarm = {"stdout": None, "stderr": None}
        self._lines = 0
        self._characters = 0
        self._is_closed = False
        self._left_out = {"stdout": "", "stderr": ""}
        self._ends_left_out = 0

    def read(self, stream, pipe):
        """Reads until the end of the pipe."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        try:
            while data := os.read(pipe.fileno(), 65536):
                self._add(stream, decoder.decode(data))
        except (OSError, ValueError):
            pass  # closed by us
        self._add(stream, decoder.decode(b"", True))

    def close(self):
        """Streams the unfinished line; nothing is streamed afterwards."""
        for stream in self._unsent:
            self._flush(stream)
        with self._lock:
            self._is_closed = True

    def text(self, stream):
        with self._lock:
            return "".join(self._kept[stream])

    def lines_left_out(self):
        """The number of lines left out. An unfinished one counts, too."""
        return self._ends_left_out + sum(last not in ("", "\n") for last in self._left_out.values())

    def _add(self, stream, text):
        if not text:
            return
        with self._lock:
            if self._is_closed:
                return
            text = self._keep(stream, text)
            parts = self._whole_parts(stream, self._unsent[stream] + text)
            if self._unsent[stream] and self._alarm[stream] is None:
                self._alarm[stream] = self._flushes.set(self._settings.stream_flush, lambda: self._flush(stream))
            # Under the lock, so that no line overtakes another.
            for part in parts:
                self._on_line(stream, part)

    def _keep(self, stream, text):
        """The part of the text within the limits."""
        room = self._settings.max_output_lines - self._lines
        lines = _with_ends(text)
        kept = "".join(lines[:max(0, room)])[:max(0, _MOST_CHARACTERS - self._characters)]
        self._lines += sum(line.endswith("\n") for line in lines[:max(0, room)])
        self._characters += len(kept)
        self._kept[stream].append(kept)
        if len(kept) < len(text):
            self._ends_left_out += text.count("\n", len(kept))
            self._left_out[stream] = text[-1]
        return kept

    def _whole_parts(self, stream, text):
        *whole, rest = text.split("\n")
        size = self._settings.stream_buffer
        if whole and self._is_begun[stream]:
            self._is_begun[stream] = False
            if not whole[0].rstrip("\r"):
                del whole[0]  # nothing but the end of a line that has been streamed
        parts = [part for line in whole for part in _cut_in_parts(line.rstrip("\r"), size)]
        while len(rest) > size:
            parts.append(rest[:size])
            rest = rest[size:]
        self._unsent[stream] = rest
        return parts

    def _flush(self, stream):
        with self._lock:
            self._alarm[stream] = None
            text, self._unsent[stream] = self._unsent[stream], ""
            if text and not self._is_closed:
                self._is_begun[stream] = True
                self._on_line(stream, text.strip("\r"))


def _with_ends(text):
    """Lines end with a line feed only: other separators may be part of what is printed."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _cut_in_parts(line, size):
    return [line[start:start + size] for start in range(0, len(line), size)] or [""]
