import logging
logging.info("not shown")
logging.warning("shown")
logging.getLogger("x").error("also %s", "shown")
logging.getLogger("lib").debug("hidden")
