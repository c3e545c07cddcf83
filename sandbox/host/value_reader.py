"""The value of one program: the frames that carry it, checked and put together."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from sandbox.errors import GuestProtocolError
from sandbox.outcome import JsonText
from sandbox.protocol.large_results import LARGE, ResultCheck
from sandbox.protocol.parts import NO_PARTS, Parts, checked_text
from sandbox.protocol.strict_json import InvalidJson, JsonValue, SlowNumbers, loads_checked, loads_result, weight

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sandbox.limits import Limits
    from sandbox.protocol.conversation import Conversation


class ValueReader:
    """Read a value from its parts and its last frame. Each method raises GuestProtocolError.

    A frame of 64 KiB or more is checked in steps. While `is_checking`, call `check_step` once in each turn of the event
    loop, and take no other frame.
    """

    def __init__(self, limits: Limits, conversation: Conversation) -> None:
        self._conversation = conversation
        self._depth = limits.result_depth
        self._parts = Parts(limits.result_depth)
        self._numbers = SlowNumbers()
        self._check: ResultCheck
        self._steps: Iterator[None] | None = None
        self._then: Callable[[int], None]
        #: JSON data, or a JsonText if the last frame or the whole is large.
        self.value: JsonValue = None
        self.is_complete = False

    @property
    def is_checking(self) -> bool:
        """Whether a large frame has steps left to check."""
        return self._steps is not None

    def take_part(self, part: bytes) -> None:
        """Take a part that precedes the final message."""
        self._conversation.expect_part()
        text = checked_text(part)
        if len(text) >= LARGE:
            self._check_in_steps(text, self._parts.depth_left, partial(self._put_part, part))
            return
        self._numbers.add(text, 0, len(text))
        self._put_part(part, weight(text) if text else len(part), is_checked=False)

    def take_value(self, body: bytes) -> None:
        """Take the value itself, or its last part."""
        if len(body) >= LARGE:
            self._check_in_steps(body, self._depth, partial(self._put_large_value, body))
            return
        self._conversation.received_value(weight(body))
        with _invalid_json_is_a_breach():
            value = loads_result(body, depth=self._depth)
        self._numbers.add(body, 0, len(body))
        self._complete(body, value)

    def check_step(self) -> None:
        """Check one step of a large frame, and take the frame after the last step."""
        assert self._steps is not None  # noqa: S101 - see the docstring of the class
        with _invalid_json_is_a_breach():
            for _ in self._steps:
                return
        self._steps = None
        self._then(self._check.weight)

    def clear(self) -> None:
        """Release what was read."""
        self.value = None
        self._parts = Parts(self._depth)

    def _check_in_steps(self, text: bytes, depth: int, then: Callable[[int], None]) -> None:
        self._check, self._then = ResultCheck(text, depth, self._numbers), then
        self._steps = self._check.steps()

    def _put_part(self, part: bytes, size: int, *, is_checked: bool = True) -> None:
        self._conversation.received_part(size, takes_back=part == NO_PARTS)
        with _invalid_json_is_a_breach():
            self._parts.take(part, is_checked=is_checked)

    def _put_large_value(self, body: bytes, size: int) -> None:
        self._conversation.received_value(size)
        self._complete(body, JsonText(body, loads_checked))

    def _complete(self, body: bytes, value: JsonValue) -> None:
        whole = self._parts.complete(body)
        if whole is not body:
            value = JsonText(whole, loads_checked)
        if isinstance(value, JsonText):
            with _invalid_json_is_a_breach():
                self._numbers.check()
        self.value, self.is_complete = value, True


@contextmanager
def _invalid_json_is_a_breach() -> Iterator[None]:
    try:
        yield
    except InvalidJson as error:
        message = f"the guest sent a result that is {error}"
        raise GuestProtocolError(message) from error
