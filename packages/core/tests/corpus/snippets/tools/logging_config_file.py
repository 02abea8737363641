import logging, logging.config, logging.handlers, queue, sys, warnings
open("logging.ini", "w").write("""[loggers]
keys=root,app
[handlers]
keys=out,file
[formatters]
keys=short
[logger_root]
level=WARNING
handlers=out
[logger_app]
level=DEBUG
handlers=file
qualname=app
propagate=0
[handler_out]
class=StreamHandler
args=(sys.stdout,)
formatter=short
[handler_file]
class=FileHandler
args=("app.log", "w")
formatter=short
[formatter_short]
format=%(levelname)s %(name)s %(funcName)s:%(lineno)d %(message)s
""")
logging.config.fileConfig("logging.ini", disable_existing_loggers=False)
def use():
    logging.getLogger("app.part").debug("to the file")
    logging.warning("to stdout")
    try:
        1 / 0
    except ZeroDivisionError:
        logging.getLogger("app").exception("failed", stack_info=True)
use()
print(open("app.log").read())
logging.captureWarnings(True)
warnings.warn("captured")
records = queue.Queue()
listener = logging.handlers.QueueListener(records, logging.StreamHandler(sys.stdout)); listener.start()
logger = logging.getLogger("queued"); logger.propagate = False
logger.addHandler(logging.handlers.QueueHandler(records)); logger.error("through a queue"); listener.stop()
logging.addLevelName(25, "NOTICE"); logging.log(25, "not shown"); logging.getLogger().setLevel(20); logging.log(25, "shown")
logging.getLogger("missing").addHandler(logging.NullHandler())
print(logging.getLevelName(25), logging.getLogger("app").handlers)
