# argv: ["--verbose", "add", "--count", "3", "one", "two", "--tag=x", "--tag", "y"]
import argparse, os, sys
print(sys.argv, os.path.basename(sys.argv[0]))
parser = argparse.ArgumentParser(description="A tool.", epilog="The end.")
parser.add_argument("--verbose", "-v", action="count", default=0)
parser.add_argument("--version", action="version", version="%(prog)s 1.0")
commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
add = commands.add_parser("add", help="adds items")
add.add_argument("items", nargs="+"); add.add_argument("--count", type=int, choices=range(5)); add.add_argument("--tag", action="append")
remove = commands.add_parser("remove"); group = remove.add_mutually_exclusive_group()
group.add_argument("--all", action="store_true"); group.add_argument("--one", type=argparse.FileType("r"))
print(parser.parse_args())
parser.print_usage(); add.print_help()
print(parser.parse_known_args(["remove", "--all", "--other"]))
for arguments in (["--version"], ["add", "--count", "9", "x"], ["remove", "--all", "--one", "main.py"], []):
    try:
        parser.parse_args(arguments)
    except SystemExit as end:
        print("exit", end.code)
parser.exit(4, "leaving\n")
