import threading, urllib.request
from wsgiref.simple_server import WSGIRequestHandler, make_server
class Quiet(WSGIRequestHandler):
    def log_message(self, *args): pass
def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [environ["PATH_INFO"].encode(), b" ", environ["REQUEST_METHOD"].encode()]
server = make_server("127.0.0.1", 0, app, handler_class=Quiet)
thread = threading.Thread(target=server.handle_request); thread.start()
print(urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/path").read())
thread.join(); server.server_close()
