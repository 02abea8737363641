# env: {"PYTHONHASHSEED": "random"}
import os, sys
print(hash(1), hash(1.5), hash((1, 2)), hash("a") == hash("a"), sys.hash_info.algorithm, sys.flags.hash_randomization, sys.float_info.dig)
print({1, 2, 3}, sorted({"b", "a"}), sys.int_info.bits_per_digit, os.environ["PYTHONHASHSEED"])
