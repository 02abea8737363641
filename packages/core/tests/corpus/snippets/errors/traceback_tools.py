import io, linecache, sys, traceback, warnings
def outer(): inner()
def inner(): raise KeyError("lost")
try:
    outer()
except KeyError as error:
    print(traceback.format_exc(limit=1)); traceback.print_exc(file=sys.stdout, limit=-1)
    for frame in traceback.extract_tb(error.__traceback__): print(frame.filename == __file__ or frame.filename, frame.lineno, frame.name, frame.line)
    full = traceback.TracebackException.from_exception(error, capture_locals=True)
    print("".join(full.format_exception_only()), len(list(full.format())))
    print(sys.exc_info()[0], traceback.format_exception_only(error), error.__traceback__.tb_frame.f_code.co_name, error.__traceback__.tb_next.tb_lineno)
print(traceback.format_stack()[-1], len(traceback.format_stack()), traceback.extract_stack()[0].name, sys.exc_info())
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warnings.warn("old", DeprecationWarning, stacklevel=1); warnings.warn("careful")
    print([(str(one.message), one.category.__name__, one.filename == __file__ or one.filename, one.lineno) for one in caught])
warnings.showwarning = lambda message, category, filename, line, *rest: print("shown:", message, category.__name__, line)
warnings.warn("by a function")
warnings.filterwarnings("error", message="fatal.*")
print(warnings.formatwarning("text", UserWarning, "some.py", 3, "the line"), linecache.getline(__file__, 1))
exec(compile("def made():\n    raise ValueError('in made code')", "<made>", "exec"))
try:
    made()
except ValueError:
    traceback.print_exc()
warnings.warn("fatal warning")
