# argv: ["build", "--level", "3", "-v", "a.txt", "b.txt"]
import argparse
parser = argparse.ArgumentParser(description="A tool")
commands = parser.add_subparsers(dest="command", required=True)
build = commands.add_parser("build")
build.add_argument("files", nargs="+")
build.add_argument("--level", type=int, default=1, choices=range(5))
build.add_argument("-v", "--verbose", action="count", default=0)
print(parser.parse_args())
print(parser.format_usage(), build.format_help())
