class Stop(BaseException): pass
try:
    raise Stop("base")
except Exception:
    print("not here")
except BaseException as error:
    print(type(error).__mro__)
raise Stop("uncaught base")
