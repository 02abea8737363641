# argv: ["--help"]
import argparse
parser = argparse.ArgumentParser(prog=None, epilog="The end.")
parser.add_argument("path", help="where to look")
parser.add_argument("-n", "--number", type=float, metavar="N", help="how many (default: %(default)s)", default=1.5)
parser.parse_args()
