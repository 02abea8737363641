"""For each line of stdin, code as JSON: a fresh kernel, what it printed as a line of JSON, its end as another."""

import json
import sys

from jupyter_client.manager import start_new_kernel


def run(code):
    manager, client = start_new_kernel(startup_timeout=60)
    printed = []

    def hear(message):
        if message["msg_type"] == "stream" and message["content"]["name"] == "stdout":
            printed.append(message["content"]["text"])

    client.execute_interactive(code, output_hook=hear, timeout=60)
    say("".join(printed))
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    say("ended")


def say(text):
    print(json.dumps(text), flush=True)


for line in sys.stdin:
    run(json.loads(line))
