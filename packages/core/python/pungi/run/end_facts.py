"""How a run ended and what it used, for the server: facts that foreign code cannot write."""

import json

_GOOD = b'{"killedFor": null, "status": 0, "signal": null, "wallMs": %a, "cpuMs": %a, "peakBytes": %d}'


def encode(facts):
    return json.dumps(facts).encode()


def encode_good(use):
    """Encodes the facts of the usual end, for which a general encoder would take longer. `use`: see `usage`."""
    return _GOOD % (use["wallMs"], use["cpuMs"], use["peakBytes"])


def describe(exit_code, killed_for, ended, keeper, limits, used, is_full):
    """`exit_code`: negative for a signal. `keeper`: enforced the limits of the run. `used`: CPU time in milliseconds, and peak
    memory, of processes that were waited for. `is_full(has_failed)`: whether a full disk can be the reason of a failure."""
    cpu_ms, peak = used
    killed_for = killed_for or keeper.passed_at_end()
    if killed_for is None and exit_code < 0 and cpu_ms - keeper.cpu_before > limits["cpuMs"]:
        killed_for = "cpu"  # by the kernel's own limit, before the next sample
    return {
        "killedFor": killed_for,
        "held": keeper.held,
        "diskFull": is_full(killed_for is None and exit_code > 0),
        "status": exit_code if exit_code >= 0 else None,
        "signal": -exit_code if exit_code < 0 else None,
        **usage(ended, keeper, cpu_ms, peak, ended_well=killed_for is None and exit_code == 0),
    }


def usage(ended, keeper, cpu_ms, peak, ended_well):
    highest = keeper.final_peak(max(keeper.peak, peak))
    return {
        "wallMs": (ended - keeper.started) * 1000,
        "cpuMs": max(0.0, max(cpu_ms, keeper.cpu_seen) - keeper.cpu_before),
        "peakBytes": keeper.counted(highest) if ended_well else highest,
    }
