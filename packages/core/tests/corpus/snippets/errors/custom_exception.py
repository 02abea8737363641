class AppError(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code
class Nested:
    class Inner(AppError): pass
try:
    raise AppError(5, "bad")
except AppError as error:
    print(error.code, error, repr(error), error.args)
raise Nested.Inner(1, "qualified")
