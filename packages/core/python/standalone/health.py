"""The health endpoint: GET /health on the loopback address, for monitoring the wrapper."""

import json

_LOCAL_NAMES = ("127.0.0.1", "localhost")


def serve_health(port, health):
    """Starts it on a separate thread and returns the port. Raises OSError if the port is not available."""
    import threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self):
            # A web page can point its domain name to this address; the request then has that name.
            host = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
            if host not in _LOCAL_NAMES:
                self._answer(403, {"error": "This endpoint answers to 127.0.0.1 only."})
            elif self.path != "/health":
                self._answer(404, {"error": "There is only /health."})
            else:
                self._answer(200, health())

        def _answer(self, status, content):
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *words):
            pass

        def version_string(self):
            return "wrapper"

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="health", daemon=True).start()
    return server.server_address[1]
