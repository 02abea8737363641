"""Counts the lines of a log by their level."""

import argparse
import json
import sys
from collections import Counter


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--level", action="append", choices=["DEBUG", "INFO", "WARNING", "ERROR"], help="only these levels")
    parser.add_argument("--at-least", type=int, default=0, help="leave out what is rarer")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()

    counts = Counter(line.split()[1] for line in sys.stdin if len(line.split()) > 1)
    shown = {
        level: count
        for level, count in sorted(counts.items())
        if count >= options.at_least and level in (options.level or counts)
    }
    if options.json:
        print(json.dumps(shown))
    else:
        for level, count in shown.items():
            print(f"{level:8}{count}")
    return 0 if shown else 1


if __name__ == "__main__":
    sys.exit(main())
