import hashlib, hmac, secrets, uuid, zlib
print(hashlib.sha256(b"abc").hexdigest(), hashlib.md5(b"").hexdigest(), hashlib.blake2b(b"x", digest_size=8).hexdigest())
print(hmac.new(b"key", b"message", "sha256").hexdigest(), len(secrets.token_hex(8)), hmac.compare_digest("a", "a"))
print(uuid.uuid5(uuid.NAMESPACE_DNS, "example.org"), uuid.UUID(int=1), len(str(uuid.uuid4())))
print(hashlib.pbkdf2_hmac("sha256", b"pw", b"salt", 1000).hex()[:16], "sha3_256" in hashlib.algorithms_available)
