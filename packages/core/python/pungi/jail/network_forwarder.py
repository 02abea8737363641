"""The only way out of a jail with an empty network: passes bytes between a port of its loopback and a proxy of the server.

Runs that may reach hosts: one process for each fork server, forked before any package is loaded. It is outside the namespaces
of the runs: a supervisor opens a port inside and hands it over. So a run can neither see nor signal the process that answers,
and is not charged for it. Builds, which reach package indexes: one process for each build jail, next to the tool.
"""

import contextlib
import os
import resource
import select
import socket
import sys

from . import system

PORT = 3128
_CHUNK = 65536
# Links of one run at a time: more than the hundred that HTTP clients keep at most. Others wait in the kernel.
_MOST_LINKS = 128
_BACKLOG = 64
# Two for each link.
_MOST_DESCRIPTORS = 65536
_LONGEST_NAME = 256


def start(proxy, others=()):
    """In the jail: forks the forwarder, which alone keeps the descriptor of the proxy's socket, and none of the `others`.

    Returns the socket for handing over ports."""
    door, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        try:
            door.close()
            for fd in others:
                os.close(fd)
            _stand_alone()
            Forwarder(inside, f"/proc/self/fd/{proxy}").serve()
        except BaseException:
            sys.excepthook(*sys.exc_info())
        os._exit(1)
    inside.close()
    os.close(proxy)
    return door


def set_variables():
    """The variables by which HTTP clients find the proxy."""
    for scheme in ("http", "https"):
        for name in (f"{scheme}_proxy", f"{scheme}_proxy".upper()):
            os.environ[name] = f"http://127.0.0.1:{PORT}"


def is_gone(door):
    """Whether the forwarder has ended."""
    poller = select.poll()
    poller.register(door, 0)
    return bool(poller.poll(0))


def _stand_alone():
    """Drops stdin, which carries orders for the parent, and hides this process from foreign code in the same jail."""
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    system.set_dumpable(False)
    system.die_with_parent()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    most = _MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _MOST_DESCRIPTORS)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


class Port:
    """In the supervisor: the port of one run or build. Nothing that it sent is passed on once the port is closed."""

    def __init__(self, door, caller):
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind(("127.0.0.1", PORT))
        self._listener.listen(_BACKLOG)
        # Its other end closes with this process, too, however that ends.
        ended, self._life = os.pipe()
        socket.send_fds(door, [caller.encode()], [self._listener.fileno(), ended])
        os.close(ended)

    def close(self):
        # The forwarder may still hold it: only a socket that does not listen leaves its address to the next run's.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        os.close(self._life)


class Forwarder:
    def __init__(self, door, proxy):
        self._door, self._proxy = door, proxy
        self._epoll = select.epoll()
        self._handlers, self._events = {}, {}
        # Watched since this round of events began: an event of such a descriptor belongs to an older one of that number.
        self._fresh = set()
        self._left = resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2 - _MOST_LINKS

    def serve(self):
        """Serves until the fork server is gone."""
        self.watch(self._door.fileno(), self._on_door)
        while self._door is not None:
            self._fresh.clear()
            for fd, events in self._epoll.poll():
                if fd in self._handlers and fd not in self._fresh:
                    self._handlers[fd](fd, events)

    def watch(self, fd, handler):
        self._handlers[fd] = handler
        self._fresh.add(fd)
        self.want(fd, select.EPOLLIN)

    def want(self, fd, events):
        """With no events wanted it is not watched at all: the kernel would go on reporting that the other end is gone."""
        before = self._events.get(fd, 0)
        if events == before:
            return
        if not events:
            self._epoll.unregister(fd)
        elif before:
            self._epoll.modify(fd, events)
        else:
            self._epoll.register(fd, events)
        self._events[fd] = events

    def forget(self, fd):
        self.want(fd, 0)
        del self._handlers[fd], self._events[fd]

    def reserve(self):
        """Whether another link fits into the limit of descriptors."""
        self._left -= 1
        if self._left >= 0:
            return True
        self._left += 1
        return False

    def release(self):
        self._left += 1

    def connect(self, caller):
        proxy = socket.socket(socket.AF_UNIX)
        try:
            proxy.setblocking(False)
            proxy.connect(self._proxy)
            proxy.sendall(caller + b"\n")
        except OSError:
            proxy.close()
            raise
        return proxy

    def _on_door(self, _fd, _events):
        caller, fds, _, _ = socket.recv_fds(self._door, _LONGEST_NAME, 2)
        if not caller:
            self._door = None
        elif len(fds) == 2:
            _OpenPort(self, caller, *fds)


class _OpenPort:
    """The port of one run, from outside the run, with its open links."""

    def __init__(self, forwarder, caller, listener, ended):
        self._forwarder, self._caller, self._ended = forwarder, caller, ended
        self._links = set()
        self._listener = socket.socket(fileno=listener)
        self._listener.setblocking(False)
        forwarder.watch(listener, self._on_listener)
        forwarder.watch(ended, self._on_ended)

    def _on_listener(self, _fd, events):
        if events & select.EPOLLHUP:
            return self._on_ended()
        if not self._forwarder.reserve():
            return self._close_first()
        with contextlib.suppress(OSError):
            inner, _ = self._listener.accept()
            try:
                inner.setblocking(False)
                self._links.add(_Link(self._forwarder, inner, self._forwarder.connect(self._caller), self._on_closed))
                return self._pace()
            except OSError:
                inner.close()
        self._forwarder.release()

    def _close_first(self):
        """No link is free: new connections are refused, or they would wake this process without end."""
        with contextlib.suppress(OSError):
            self._listener.accept()[0].close()

    def _on_closed(self, link):
        self._links.discard(link)
        self._forwarder.release()
        if self._listener.fileno() >= 0:
            self._pace()

    def _pace(self):
        self._forwarder.want(self._listener.fileno(), select.EPOLLIN if len(self._links) < _MOST_LINKS else 0)

    def _on_ended(self, *_):
        self._forwarder.forget(self._listener.fileno())
        self._forwarder.forget(self._ended)
        self._listener.close()
        os.close(self._ended)
        for link in list(self._links):
            link.close()


class _Link:
    """Two sockets, and for each the bytes of the other that do not fit into it yet."""

    def __init__(self, forwarder, inner, outer, on_closed):
        self._forwarder, self._on_closed = forwarder, on_closed
        self._sockets = {inner.fileno(): inner, outer.fileno(): outer}
        self._other = {inner.fileno(): outer.fileno(), outer.fileno(): inner.fileno()}
        self._waiting = dict.fromkeys(self._sockets, b"")
        self._is_open = dict.fromkeys(self._sockets, True)
        for fd in self._sockets:
            forwarder.watch(fd, self._on_ready)

    def _on_ready(self, fd, events):
        try:
            if events & select.EPOLLERR:
                return self.close()
            if events & select.EPOLLOUT:
                self._send(fd)
            if events & (select.EPOLLIN | select.EPOLLHUP):
                self._read(fd)
        except BlockingIOError:
            pass
        except OSError:
            return self.close()
        if any(self._is_open.values()) or any(self._waiting.values()):
            for each in self._sockets:
                self._forwarder.want(each, self._wanted(each))
        else:
            self.close()

    def _read(self, fd):
        to = self._other[fd]
        if not self._is_open[fd] or self._waiting[to]:
            return  # it was woken to be written to, and is gone
        if data := self._sockets[fd].recv(_CHUNK):
            self._waiting[to] = data
            self._send(to)
        else:
            self._is_open[fd] = False
            self._sockets[to].shutdown(socket.SHUT_WR)

    def _send(self, fd):
        if data := self._waiting[fd]:
            self._waiting[fd] = data[self._sockets[fd].send(data) :]

    def _wanted(self, fd):
        reads = self._is_open[fd] and not self._waiting[self._other[fd]]
        return (select.EPOLLIN if reads else 0) | (select.EPOLLOUT if self._waiting[fd] else 0)

    def close(self):
        for fd, each in self._sockets.items():
            self._forwarder.forget(fd)
            each.close()
        self._on_closed(self)
