import logging, warnings, sys
logging.captureWarnings(True)
logging.basicConfig(format="%(levelname)s %(name)s %(filename)s:%(lineno)d %(funcName)s %(processName)s %(threadName)s %(message)s", level=logging.DEBUG, stream=sys.stdout)
warnings.warn("careful")
def work():
    try: 1 / 0
    except ZeroDivisionError: logging.exception("failed")
work()
logging.getLogger("a.b").warning("%s %d", "x", 3, stack_info=True)
logging.shutdown()
