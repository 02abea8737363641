"""Times kernels: `STARTS CALLS CODE`. Prints the times in ms as JSON: of starts, and of calls in the last kernel."""

import json
import sys
import time

from jupyter_client.manager import start_new_kernel

GAP_SECONDS = 0.005


def main(starts, calls, code):
    times = {"starts": [], "calls": []}
    for number in range(starts):
        began = time.perf_counter()
        manager, client = start_new_kernel(startup_timeout=60)
        times["starts"].append((time.perf_counter() - began) * 1000)
        if number == starts - 1:
            times["calls"] = [timed_call(client, code, call) for call in range(calls)]
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    print(json.dumps(times))


def timed_call(client, code, call):
    printed = []

    def hear(message):
        if message["msg_type"] == "stream":
            printed.append(message["content"]["text"])

    time.sleep(GAP_SECONDS)
    began = time.perf_counter()
    client.execute_interactive(code, output_hook=hear, timeout=60)
    took = (time.perf_counter() - began) * 1000
    if "".join(printed) != f"{call}\n":
        raise RuntimeError(f"expected {call}, got {printed}")
    return took


main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
