import http.client, http.server, json, threading, urllib.error, urllib.parse, urllib.request
class Api(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    items = {}
    def reply(self, status, value):
        body = json.dumps(value).encode(); self.send_response(status)
        self.send_header("Content-Type", "application/json"); self.send_header("Content-Length", str(len(body)))
        self.end_headers(); self.wfile.write(body)
    def do_GET(self):
        url = urllib.parse.urlparse(self.path); self.reply(200 if url.path == "/items" else 404, {"items": self.items, "query": urllib.parse.parse_qs(url.query)})
    def do_POST(self):
        value = json.loads(self.rfile.read(int(self.headers["Content-Length"]))); self.items[value["id"]] = value; self.reply(201, value)
    def log_message(self, format, *arguments): print("log", format % arguments)
with http.server.ThreadingHTTPServer(("localhost", 0), Api) as server:
    thread = threading.Thread(target=server.serve_forever); thread.start()
    base = f"http://localhost:{server.server_port}"
    request = urllib.request.Request(f"{base}/items", json.dumps({"id": 1, "name": "tea"}).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer: print(answer.status, json.load(answer))
    with urllib.request.urlopen(f"{base}/items?a=1&a=2") as answer: print(answer.headers["Content-Type"], json.load(answer))
    try:
        urllib.request.urlopen(f"{base}/nothing")
    except urllib.error.HTTPError as error:
        print(error, error.read())
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=5)
    for _ in range(2):
        connection.request("GET", "/items"); print(connection.getresponse().read())
    connection.close(); server.shutdown(); thread.join()
urllib.request.urlopen(f"{base}/items", timeout=5)
