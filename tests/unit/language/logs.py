import logging
import sys
from concurrent.futures import ThreadPoolExecutor, wait

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)-8s %(name)s %(lineno)d %(funcName)s %(message)s")
log = logging.getLogger("app.db")
log.info("hi %s %d", "x", 1)
log.debug("too low")
log.warning("w %(a)s", {"a": 2}, extra={"user": "me"})
log.log(25, "between")
logging.error("of the root")


def fails():
    try:
        {}["key"]
    except KeyError:
        log.exception("failed")


fails()
print(log.name, log.parent.name, log.getEffectiveLevel(), log.isEnabledFor(logging.DEBUG), log.hasHandlers())
print(logging.getLevelName(30), logging.getLogger("app.db") is log, logging.getLogger() is logging.root)

quiet = logging.getLogger("quiet")
quiet.propagate = False
for style, form in (("{", "{levelname}: {message}"), ("$", "$name $message"), ("%", "%(asctime)s %(message)s")):
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(logging.Formatter(form, datefmt="date", style=style))
    quiet.addHandler(handler)
quiet.error("to all")
for handler in list(quiet.handlers):
    quiet.removeHandler(handler)


class Kept(logging.Handler):
    def __init__(self):
        super().__init__(level=logging.WARNING)
        self.messages = []

    def emit(self, record):
        self.messages.append((record.levelname, record.getMessage(), record.user))


class Adds(logging.Filter):
    def filter(self, record):
        record.user = "someone"
        return "secret" not in record.getMessage()


kept = Kept()
quiet.addHandler(kept)
quiet.addFilter(Adds())
quiet.warning("kept")
quiet.info("too low")
quiet.error("secret")
logging.LoggerAdapter(quiet, {"user": "adapter"}).critical("adapted")
print(kept.messages)
logging.disable(logging.CRITICAL)
quiet.critical("disabled")
logging.disable(logging.NOTSET)
logging.addLevelName(5, "TRACE")
print(len(kept.messages), logging.getLevelName(5))


def job():
    log.info("of a job")


with ThreadPoolExecutor(2) as pool:
    wait([pool.submit(job) for _ in range(2)])
