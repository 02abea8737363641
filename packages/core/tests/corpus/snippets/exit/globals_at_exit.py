import sys
class Late:
    def __del__(self): print("sys is", sys is not None, "print works")
module_level = Late()
