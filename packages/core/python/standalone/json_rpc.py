"""JSON-RPC 2.0: parses a line, and checks whether it is a message."""

import json
import math

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

_DEEPEST_MESSAGE = 200
_LONGEST_NUMBER = 4300
_LONGEST_ID = 100_000


class RpcError(Exception):
    """An answer that is an error of the protocol."""

    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def as_object(self):
        found = {"code": self.code, "message": self.message}
        return found if self.data is None else {**found, "data": self.data}


class Message:
    """A request, or a notification if it has no id."""

    def __init__(self, method, params, request_id, is_notification):
        self.method = method
        self.params = params
        self.id = request_id
        self.is_notification = is_notification


def parse_line(line):
    """The JSON value of a line of bytes."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        raise RpcError(PARSE_ERROR, "Parse error: the message is not UTF-8") from None
    try:
        value = _message_decoder.decode(text)
    except RecursionError:
        raise RpcError(PARSE_ERROR, "Parse error: the message is nested too deeply") from None
    except ValueError as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise RpcError(PARSE_ERROR, f"Parse error: {reason}") from None
    if line.count(b"[") + line.count(b"{") > _DEEPEST_MESSAGE and _is_too_deep(value):
        raise RpcError(PARSE_ERROR, f"Parse error: the message is nested more than {_DEEPEST_MESSAGE} deep")
    return value


def _read_integer(text):
    # Parsing decimal digits takes time that grows with their square.
    if len(text) > _LONGEST_NUMBER:
        raise ValueError(f"a number has more than {_LONGEST_NUMBER} digits")
    return int(text)


def _refuse_constant(text):
    raise ValueError(f"{text} is not JSON")


_message_decoder = json.JSONDecoder(parse_int=_read_integer, parse_constant=_refuse_constant)


def _is_too_deep(value):
    """Iterative, so depth is safe."""
    level = [value]
    for _ in range(_DEEPEST_MESSAGE + 1):
        level = [each for each in level if isinstance(each, (dict, list))]
        if not level:
            return False
        level = [inner for outer in level for inner in (outer.values() if isinstance(outer, dict) else outer)]
    return True


def read_message(value):
    """The message of a JSON value; None for an answer, which nothing here waits for."""
    if not isinstance(value, dict):
        raise RpcError(INVALID_REQUEST, "Invalid Request: a message is an object")
    if value.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'Invalid Request: "jsonrpc" must be "2.0"')
    if "method" not in value and ("result" in value or "error" in value):
        return None
    if not isinstance(value.get("method"), str):
        raise RpcError(INVALID_REQUEST, 'Invalid Request: "method" must be a text')
    if "id" in value and not is_valid_id(value["id"]):
        raise RpcError(INVALID_REQUEST, 'Invalid Request: "id" must be a text or a number')
    params = value.get("params", {})
    if not isinstance(params, (dict, list)):
        raise RpcError(INVALID_REQUEST, 'Invalid Request: "params" must be an object')
    return Message(value["method"], params, value.get("id"), "id" not in value)


def is_valid_id(value):
    """null is not an id: MCP forbids it, and JSON-RPC reserves it for answers to unreadable messages."""
    if isinstance(value, str):
        return len(value) <= _LONGEST_ID
    return type(value) is int or type(value) is float and math.isfinite(value)


def id_of(value):
    """The id to answer an invalid message with; None if it has no usable one."""
    found = value.get("id") if isinstance(value, dict) else None
    return found if is_valid_id(found) else None


def encode_message(message):
    try:
        return json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
    except UnicodeEncodeError:
        # A lone surrogate has no bytes in UTF-8, but JSON can escape it.
        return json.dumps(message, allow_nan=False, separators=(",", ":")).encode("ascii")
