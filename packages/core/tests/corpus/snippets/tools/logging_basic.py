import logging
logging.basicConfig(level=logging.DEBUG, format="%(levelname)s:%(name)s:%(funcName)s:%(lineno)d:%(message)s")
log = logging.getLogger("app.module")
def work():
    log.debug("value %d", 5)
    log.warning("careful")
    try:
        1 / 0
    except ZeroDivisionError:
        log.exception("failed")
work()
logging.getLogger().error("root %s", {"a": 1})
