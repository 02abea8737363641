import threading, xmlrpc.client
from xmlrpc.server import SimpleXMLRPCServer
server = SimpleXMLRPCServer(("127.0.0.1", 0), logRequests=False, allow_none=True)
server.register_function(lambda a, b: a + b, "add")
server.register_introspection_functions()
threading.Thread(target=server.serve_forever, daemon=True).start()
proxy = xmlrpc.client.ServerProxy(f"http://127.0.0.1:{server.server_address[1]}", allow_none=True)
print(proxy.add(2, 3), proxy.system.listMethods()[0])
try:
    proxy.nothing()
except xmlrpc.client.Fault as error:
    print(error.faultString.split(":")[0])
server.shutdown()
