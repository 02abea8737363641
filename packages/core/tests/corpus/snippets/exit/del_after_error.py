class Resource:
    def __del__(self): print("released")
resource = Resource()
raise ValueError("main failed")
