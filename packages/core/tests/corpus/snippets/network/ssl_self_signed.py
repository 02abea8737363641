import socket, ssl, threading
context = ssl.create_default_context()
print(context.verify_mode, context.check_hostname, context.minimum_version, ssl.HAS_TLSv1_3, len(context.get_ciphers()) > 5)
print(ssl.get_default_verify_paths()._fields, ssl.OPENSSL_VERSION.split()[0], ssl.DER_cert_to_PEM_cert(b"abc").split("\n")[0])
client = ssl._create_unverified_context(); print(client.verify_mode, client.check_hostname)
try:
    context.load_cert_chain("missing.pem")
except FileNotFoundError as error:
    print(error)
incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
wrapped = client.wrap_bio(incoming, outgoing, server_hostname="example.org")
try:
    wrapped.do_handshake()
except ssl.SSLWantReadError as error:
    print(type(error).__name__, outgoing.pending > 100)
left, right = socket.socketpair()
thread = threading.Thread(target=lambda: (right.recv(10000), right.sendall(b"this is not TLS at all"), right.close())); thread.start()
try:
    client.wrap_socket(left, server_hostname="example.org")
except ssl.SSLError as error:
    print(error.reason, error.library)
thread.join(); left.close()
ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).wrap_socket(socket.socketpair()[0], server_side=True, do_handshake_on_connect=False).version()
print(ssl.RAND_status(), len(ssl.RAND_bytes(8)))
