import ssl
context = ssl.create_default_context()
print(context.verify_mode, context.check_hostname, ssl.HAS_TLSv1_3, len(context.get_ciphers()) > 3)
print(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).verify_mode.name, bool(ssl.OPENSSL_VERSION), isinstance(ssl.RAND_bytes(4), bytes))
