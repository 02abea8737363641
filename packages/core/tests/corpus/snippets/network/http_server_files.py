import functools, http.client, http.server, threading
open("index.html", "w").write("<h1>hi</h1>")
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args): pass
server = http.server.HTTPServer(("localhost", 0), Quiet)
threading.Thread(target=server.serve_forever, daemon=True).start()
connection = http.client.HTTPConnection("localhost", server.server_port)
for path in ("/", "/missing"):
    connection.request("GET", path)
    response = connection.getresponse()
    print(response.status, response.reason, response.getheader("Content-type"), response.read()[:11])
server.shutdown(); server.server_close()
