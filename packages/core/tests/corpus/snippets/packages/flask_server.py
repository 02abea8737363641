# packages: ["flask", "requests"]
import logging, threading, time
import requests
from flask import Flask
from werkzeug.serving import make_server
app = Flask(__name__)
@app.get("/hello/<name>")
def hello(name): return f"Hello {name}"
server = make_server("127.0.0.1", 0, app)
logging.getLogger("werkzeug").setLevel("ERROR")
threading.Thread(target=server.serve_forever, daemon=True).start()
print(requests.get(f"http://127.0.0.1:{server.server_port}/hello/you", timeout=5).text)
server.shutdown()
