import sys
import main
if __name__ == "__main__":
    print("imported as main:", main.__name__, main is not sys.modules["__main__"])
