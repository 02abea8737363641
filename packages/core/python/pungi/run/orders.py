"""The orders of the server that the guard follows: supervisors to start and to kill, and whether there are runs (lease.py)."""

import contextlib
import json
import os
import socket

from . import frames, guard_door

_CHUNK = 65536


class Orders:
    """The orders of the server, in sequence. Orders that come while packages load wait here."""

    def __init__(self, server, groups, lease):
        self._server, self._groups, self._lease = server, groups, lease
        self._pending = b""
        self.waiting = []

    def read(self):
        """False when the server has gone."""
        chunk = os.read(0, _CHUNK)
        *lines, self._pending = (self._pending + chunk).split(b"\n")
        for order in map(json.loads, filter(None, lines)):
            if "runs" in order:
                self._lease.mark_runs(order["runs"])
            else:
                self.waiting.append(order)
        return bool(chunk)

    def pass_on(self, door, keeper):
        """Gives the fork server a connection that has introduced itself already, and no means to open another.

        `keeper`: changes the files of runs (file_keeper.py), or None."""
        while self.waiting:
            order = self.waiting[0]
            try:
                if "kill" in order:
                    door.sendall(guard_door.pack_line(order))
                else:
                    self._start(order["start"], order["token"], door, keeper)
            except BlockingIOError:
                return  # the server or the fork server is busy: try again later
            self.waiting.pop(0)

    def _start(self, name, token, door, keeper):
        with contextlib.ExitStack() as opened:
            sockets = [opened.enter_context(self._connect(name, token))]
            if keeper is not None:
                sockets.append(opened.enter_context(keeper.connect(name)))
            group, fds = opened.enter_context(self._groups.ask())
            line = guard_door.pack_line({"start": name, "sockets": len(sockets), "group": group, "aboutGroup": self._groups.about})
            socket.send_fds(door, [line], [*(one.fileno() for one in sockets), *fds])

    def close(self):
        """In the fork server, which sends no orders itself."""
        self._groups.close()
        self._lease.close()

    def _connect(self, name, token):
        channel = socket.socket(socket.AF_UNIX)
        try:
            channel.setblocking(False)
            channel.connect(self._server)
            channel.sendall(frames.pack(frames.HELLO, json.dumps({"id": name, "token": token}).encode()))
            channel.setblocking(True)
        except OSError:
            channel.close()
            raise
        return channel
