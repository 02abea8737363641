import logging, logging.config, logging.handlers, sys
logger = logging.getLogger("files"); logger.setLevel("INFO")
handler = logging.handlers.RotatingFileHandler("app.log", maxBytes=60, backupCount=2)
handler.setFormatter(logging.Formatter("%(filename)s %(module)s %(processName)s %(threadName)s %(message)s"))
logger.addHandler(handler)
for n in range(3): logger.info("message %d", n)
import os; print(sorted(f for f in os.listdir() if f.startswith("app")), open("app.log").read())
logging.config.dictConfig({"version": 1, "handlers": {"h": {"class": "logging.StreamHandler", "stream": "ext://sys.stdout"}}, "root": {"handlers": ["h"], "level": "INFO"}})
logging.info("to stdout"); logging.info("bad %d", "format")
