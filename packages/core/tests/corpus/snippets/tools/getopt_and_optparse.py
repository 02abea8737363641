# argv: ["-a", "--beta=2", "rest"]
import getopt, optparse, shlex, sys
print(getopt.getopt(sys.argv[1:], "a", ["beta="]), shlex.split("a 'b c' \"d\""), shlex.quote("it's"))
parser = optparse.OptionParser()
parser.add_option("-a", action="store_true"); parser.add_option("--beta", type="int")
print(parser.parse_args())
parser.error("wrong")
