import http.server, threading, urllib.error, urllib.request
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/move":
            self.send_response(302); self.send_header("Location", "/there"); self.end_headers()
        elif self.path == "/there":
            self.send_response(200); self.end_headers(); self.wfile.write(b"moved")
        else:
            self.send_error(404, "Nothing here")
    def log_message(self, *args): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = f"http://127.0.0.1:{server.server_port}"
print(urllib.request.urlopen(base + "/move").read())
try:
    urllib.request.urlopen(base + "/x")
except urllib.error.HTTPError as error:
    print(error.code, error.reason, b"Nothing here" in error.read())
server.shutdown()
