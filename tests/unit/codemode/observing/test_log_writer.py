"""Log lines whose reader is slow, or has gone: a real pipe."""

from __future__ import annotations

import fcntl
import json
import logging
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from codemode.observing.log_writer import LogWriter
from codemode.observing.logs import JsonFormatter, TextFormatter, written_logs

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

LINES = 200


@contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    """A pipe of one page: its ends to read and to write."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    try:
        yield reading, writing
    finally:
        os.close(reading)
        os.close(writing)


def line(number: int) -> logging.LogRecord:
    return logging.makeLogRecord({"msg": "line %d", "args": (number,), "text": "x" * 100, "levelname": "INFO"})


def test_lines_nobody_reads_are_dropped_and_counted() -> None:
    with pipe() as (reading, writing):
        os.write(writing, b"\n" * 4096)  # the pipe is full: not one line can be written before it is read
        writer = LogWriter(writing, waiting=10)
        writer.setFormatter(JsonFormatter())
        for number in range(LINES):
            writer.handle(line(number))  # returns, although nobody reads
        with os.fdopen(os.dup(reading), encoding="utf-8") as file:
            assert [file.readline() for _ in range(4096)] == ["\n"] * 4096
            read = [json.loads(file.readline())]
            while "lines" not in read[-1]:
                read.append(json.loads(file.readline()))
        writer.close()
    *written, said = read
    # Ten waited and one was taken to be written. Which ones is up to the thread, but they come in their order.
    numbers = [int(each["message"].removeprefix("line ")) for each in written]
    assert len(numbers) in (10, 11)
    assert numbers == sorted(set(numbers))
    assert (said["level"], said["message"], said["lines"]) == (
        "warning",
        "log lines were dropped",
        LINES - len(written),
    )


def test_a_reader_that_has_gone_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    writer = LogWriter(writing)
    writer.setFormatter(TextFormatter())
    for number in range(3):
        writer.handle(line(number))
    writer.close()
    os.close(writing)


def test_what_waits_at_the_end_is_written() -> None:
    reading, writing = os.pipe()
    writer = LogWriter(writing)
    writer.setFormatter(TextFormatter())
    for number in range(50):
        writer.handle(line(number))
    writer.close()
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as file:
        assert len(file.readlines()) == 50


def test_the_process_logs_what_is_ours_and_what_goes_wrong_elsewhere(capfd: pytest.CaptureFixture[str]) -> None:
    before = logging.getLogger().handlers, logging.getLogger().level
    with written_logs("text"):
        logging.getLogger("codemode.executions").info("ours", extra={"status": "completed"})
        logging.getLogger("another.package").info("theirs")
        logging.getLogger("another.package").warning("wrong")
    said = capfd.readouterr().err
    assert "info ours status=completed\n" in said
    assert "warning wrong\n" in said
    assert "theirs" not in said
    assert (logging.getLogger().handlers, logging.getLogger().level) == before
    with written_logs("off"):
        logging.getLogger("codemode").error("nothing")
    assert capfd.readouterr().err == ""
