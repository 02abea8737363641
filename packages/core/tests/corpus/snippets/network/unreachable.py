import socket, urllib.request
try:
    urllib.request.urlopen("http://no-such-host.invalid/", timeout=5)
except OSError as error:
    print(type(error).__name__, type(error.reason).__name__)
