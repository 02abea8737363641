import sys

if __name__ == "__main__":
    print("hello", sys.argv[1], input())
