# argv: ["--count", "many"]
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--count", type=int)
parser.parse_args()
