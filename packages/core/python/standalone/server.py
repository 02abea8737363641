"""Takes the client's messages, one by one or in batches, and answers each that needs an answer."""

from .answers import Batch, Reply, error_answer, result_answer
from .client_channel import ClientGone
from .eras import BATCH_VERSION
from .json_rpc import INTERNAL_ERROR, INVALID_REQUEST, RpcError, id_of, is_valid_id, parse_line, read_message
from .methods import ANSWERED_LATER

LONGEST_LINE = 10 * 1024 * 1024
_MOST_IN_BATCH = 1000


class Server:
    def __init__(self, methods, channel, log):
        self._methods = methods
        self._channel = channel
        self._log = log

    def take(self, line):
        """Handles a line from the client; None for one that was too long. Raises only ClientGone, for any input."""
        try:
            if line is None:
                raise RpcError(INVALID_REQUEST, f"Invalid Request: a message has at most {LONGEST_LINE} bytes")
            if not line.strip():
                return
            value = parse_line(line)
            if isinstance(value, list):
                self._take_batch(value)
            else:
                self._take_one(value, self._channel.send)
        except ClientGone:
            raise
        except RpcError as error:
            self._channel.send(error_answer(None, error))
        except Exception:
            self._channel.send(error_answer(None, self.failure("reading a message")))

    def _take_batch(self, values):
        if self._methods.version != BATCH_VERSION:
            raise RpcError(INVALID_REQUEST, "Invalid Request: batches are part of protocol revision 2025-03-26 only")
        if not 0 < len(values) <= _MOST_IN_BATCH:
            raise RpcError(INVALID_REQUEST, f"Invalid Request: a batch holds 1 to {_MOST_IN_BATCH} messages")
        batch = Batch(len(values), self._channel.send)
        for value in values:
            # A message that is answered, or that needs no answer, is one less to wait for.
            self._take_one(value, batch.answered, batch.needs_none, is_in_batch=True)

    def _take_one(self, value, send, needs_none=lambda: None, is_in_batch=False):
        try:
            message = read_message(value)
        except RpcError as error:
            send(error_answer(id_of(value), error))
            return
        if message is None or message.is_notification:
            if message is not None:
                self._take_notification(message)
            needs_none()
            return
        reply = Reply(message.id, send, needs_none)
        try:
            if is_in_batch and message.method == "initialize":
                raise RpcError(INVALID_REQUEST, "Invalid Request: initialize must not be part of a batch")
            if self._methods.is_under_way(message.id):
                raise RpcError(INVALID_REQUEST, "Invalid Request: a request with this id is under way")
            result = self._methods.answer(message, reply)
            if result is not ANSWERED_LATER:
                send(result_answer(message.id, result))
        except RpcError as error:
            send(error_answer(message.id, error))
        except ClientGone:
            raise
        except Exception:
            send(error_answer(message.id, self.failure("answering a request")))

    def failure(self, doing):
        sentence, entry = self._log.wrapper_failure(doing)
        return RpcError(INTERNAL_ERROR, f"Internal error: {sentence}", {"entry": entry})

    def _take_notification(self, message):
        """Handles a notification. None is ever answered, even if it is invalid."""
        if message.method != "notifications/cancelled" or not isinstance(message.params, dict):
            return
        request_id = message.params.get("requestId")
        if is_valid_id(request_id):
            self._methods.cancel(request_id)
