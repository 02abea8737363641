"""Answers that come later than their requests, alone or collected for a batch."""


def error_answer(request_id, error):
    return {"jsonrpc": "2.0", "id": request_id, "error": error.as_object()}


def result_answer(request_id, result):
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


class Reply:
    """The one answer to a request, which may come much later and from another thread. Only the first attempt counts: a call may
    end at the moment in which it is cancelled."""

    def __init__(self, request_id, send, needs_none):
        self.id = request_id
        self._send = send
        self._needs_none = needs_none
        self._tickets = [None]

    def result(self, result):
        if self._is_first():
            self._send(result_answer(self.id, result))

    def error(self, error):
        if self._is_first():
            self._send(error_answer(self.id, error))

    def none(self):
        if self._is_first():
            self._needs_none()

    def _is_first(self):
        try:
            self._tickets.pop()
            return True
        except IndexError:
            return False


class Batch:
    """Collects the answers to a batch, and sends them when the last one is there."""

    def __init__(self, count, send):
        import threading

        self._lock = threading.Lock()
        self._open = count
        self._answers = []
        self._send = send

    def answered(self, answer):
        self._count_down([answer])

    def needs_none(self):
        self._count_down([])

    def _count_down(self, answers):
        with self._lock:
            self._answers += answers
            self._open -= 1
            is_done = self._open == 0
        if is_done and self._answers:
            self._send(self._answers)
