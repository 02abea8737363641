# packages: ["requests"]
import http.server, json, threading
import requests
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"path": self.path, "agent": self.headers["X-Test"]}).encode()
        self.send_response(200); self.send_header("Content-Type", "application/json"); self.send_header("Content-Length", str(len(body))); self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
response = requests.get(f"http://127.0.0.1:{server.server_port}/api", params={"q": "a b"}, headers={"X-Test": "1"}, timeout=5)
print(response.status_code, response.json(), response.ok, response.encoding)
try:
    requests.get("http://127.0.0.1:9", timeout=2)
except requests.ConnectionError as error:
    print(type(error).__name__)
server.shutdown()
