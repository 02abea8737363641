"""The methods: those of MCP in both of its eras, and the plain ones."""

import json
import sys
import time

from .arguments import check
from .call_runner import Call
from .calls_in_order import TooManyCalls
from .eras import (
    LEGACY_VERSIONS,
    MODERN_VERSION,
    acknowledge_listening,
    claimed_version,
    discover,
    end_listening,
    initialize,
    listed_tools,
    progress,
    result_for_client,
)
from .json_rpc import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, RpcError, is_valid_id
from .replies import invalid_outcome, mcp_result, plain_result

WRAPPER_VERSION = "1.0.0"
# In place of a result that comes later, through the reply.
ANSWERED_LATER = object()


class Methods:
    """`version` is the revision that `initialize` agreed on; requests of the modern era bring their own."""

    def __init__(self, offer, settings, channel, calls):
        self._tools = offer.tools
        self._settings = settings
        self._channel = channel
        self._calls = calls
        self._in_flight = {}
        self._started = time.monotonic()
        self.version = LEGACY_VERSIONS[0]
        self.identity = {"name": offer.name, "version": WRAPPER_VERSION}
        self.instructions = offer.description
        self._plain_methods = {
            "ListTools": self._list_plainly,
            "GetToolInfo": self._tool_info,
            "HealthCheck": lambda message, reply: self.health(),
            "CallTool": self._call_plainly,
        }
        self._legacy_methods = {
            "initialize": self._initialize,
            "ping": lambda message, reply: {},
            "tools/list": lambda message, reply: self._list(message, self.version),
            "tools/call": lambda message, reply: self._call(message, reply, self.version),
        }
        self._modern_methods = {
            "server/discover": lambda message, reply: discover(self),
            "tools/list": lambda message, reply: self._list(message, MODERN_VERSION),
            "tools/call": lambda message, reply: self._call(message, reply, MODERN_VERSION),
            "subscriptions/listen": self._listen,
        }

    def answer(self, message, reply):
        if not isinstance(message.params, dict):
            raise RpcError(INVALID_PARAMS, "Invalid params: they are given by name, in an object")
        if message.method in self._plain_methods:
            return self._plain_methods[message.method](message, reply)
        version = claimed_version(message.method, message.params)
        methods = self._legacy_methods if version is None else self._modern_methods
        if message.method not in methods:
            raise RpcError(METHOD_NOT_FOUND, f"Method not found: {message.method[:200]}")
        result = methods[message.method](message, reply)
        if result is ANSWERED_LATER or message.method == "initialize":
            return result
        return result_for_client(result, version or self.version, self.identity)

    def is_under_way(self, request_id):
        return _key_of(request_id) in self._in_flight

    def cancel(self, request_id):
        """Cancels a call that waits or runs; its request is not answered any more."""
        call = self._in_flight.pop(_key_of(request_id), None)
        if call is not None:
            self._calls.cancel(call)
            call.on_cancelled()

    def health(self):
        running, waiting = self._calls.counts()
        return {
            "status": "ok",
            "name": self.identity["name"],
            "version": WRAPPER_VERSION,
            "python": sys.version.split()[0],
            "tools": len(self._tools),
            "running": running,
            "waiting": waiting,
            "maxConcurrent": self._settings.max_concurrent,
            "uptimeSeconds": round(time.monotonic() - self._started, 3),
        }

    def _initialize(self, message, reply):
        result = initialize(message.params, self)
        self.version = result["protocolVersion"]
        return result

    def _list(self, message, version):
        if message.params.get("cursor") is not None:
            raise RpcError(INVALID_PARAMS, "Invalid params: there is one page only, so no cursor is known")
        return listed_tools(self._tools.values(), version)

    def _listen(self, message, reply):
        if not isinstance(message.params.get("notifications"), dict):
            raise RpcError(INVALID_PARAMS, 'Invalid params: "notifications" must be an object')
        self._channel.notify("notifications/subscriptions/acknowledged", acknowledge_listening(message.id))
        return end_listening(message.id)

    def _list_plainly(self, message, reply):
        return listed_tools(self._tools.values(), LEGACY_VERSIONS[0])

    def _tool_info(self, message, reply):
        tool = self._tool_of(message.params)
        return {name: value for name, value in tool.items() if name not in ("source", "hidden")}

    def _tool_of(self, params):
        name = params.get("name")
        if not isinstance(name, str):
            raise RpcError(INVALID_PARAMS, 'Invalid params: "name" must be a text')
        if name not in self._tools:
            raise RpcError(INVALID_PARAMS, f"Unknown tool: {name[:200]}")
        return self._tools[name]

    def _arguments_of(self, tool, params):
        """Returns the arguments as they came, and the problems that can be found at once. The call's own process converts them,
        and tries patterns, which may take forever."""
        arguments = params.get("arguments")
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, dict):
            raise RpcError(INVALID_PARAMS, 'Invalid params: "arguments" must be an object')
        return arguments, check(tool["inputSchema"], arguments, tries_patterns=False)[1]

    def _call(self, message, reply, version):
        tool = self._tool_of(message.params)
        arguments, issues = self._arguments_of(tool, message.params)
        token = _progress_token(message.params)
        if issues:
            return mcp_result(tool, invalid_outcome(issues), self._settings)
        sent = [0]

        def on_line(stream, text):
            if token is not None:
                sent[0] += 1
                self._channel.notify("notifications/progress", progress(token, sent[0], text, version))

        def as_result(outcome):
            return result_for_client(mcp_result(tool, outcome, self._settings), version, self.identity)

        return self._start(tool, arguments, reply, on_line, as_result)

    def _call_plainly(self, message, reply):
        tool = self._tool_of(message.params)
        arguments, issues = self._arguments_of(tool, message.params)
        if issues:
            raise RpcError(INVALID_PARAMS, "Invalid params: " + "; ".join(issues), {"issues": issues})
        is_streamed = message.params.get("stream") is not False

        def on_line(stream, text):
            if is_streamed:
                self._channel.send({"jsonrpc": "2.0", "id": message.id, "partial": True, "data": text, "stream": stream})

        return self._start(tool, arguments, reply, on_line, lambda outcome: plain_result(tool, outcome, self._settings))

    def _start(self, tool, arguments, reply, on_line, as_result):
        key = _key_of(reply.id)
        call = Call(tool, arguments, on_line, lambda outcome: reply.result(as_result(outcome)), reply.error, reply.none)
        call.on_leaving = lambda: self._forget(key, call)
        self._in_flight[key] = call
        try:
            self._calls.add(call)
        except TooManyCalls:
            del self._in_flight[key]
            raise RpcError(INTERNAL_ERROR, "Internal error: too many calls are waiting; try again later") from None
        return ANSWERED_LATER

    def _forget(self, key, call):
        """The id may be another call's by now."""
        if self._in_flight.get(key) is call:
            del self._in_flight[key]


def _key_of(request_id):
    """1 and "1" are two ids; 1 and 1.0 are one, as for clients with one type of number."""
    if isinstance(request_id, float) and request_id.is_integer():
        request_id = int(request_id)
    return json.dumps(request_id)


def _progress_token(params):
    meta = params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    if token is not None and not is_valid_id(token):
        raise RpcError(INVALID_PARAMS, "Invalid params: progressToken must be a text or a number")
    return token
