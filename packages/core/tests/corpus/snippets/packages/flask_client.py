# packages: ["flask"]
from flask import Flask, jsonify, request
app = Flask(__name__)
@app.route("/sum", methods=["POST"])
def total(): return jsonify(total=sum(request.get_json()))
@app.route("/fail")
def fail(): raise RuntimeError("broken view")
client = app.test_client()
print(client.post("/sum", json=[1, 2, 3]).get_json(), client.get("/missing").status_code, app.name)
print(client.get("/fail").status_code)
