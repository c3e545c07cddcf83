"""The ids of conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codemode.errors import WrongArgument
from codemode.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable

#: Characters of an id at most.
LONGEST_ID = 128

EXPECTED = f"expected 1 to {LONGEST_ID} visible characters, such as a random id that the client keeps for one chat"


def is_conversation(text: str) -> bool:
    """Return whether a text may be the id of a conversation."""
    return 0 < len(text) <= LONGEST_ID and text.isprintable() and not text.isspace() and visible(text) == text


def conversation_key(conversation: str, owner: str, digest: Callable[[Any], str]) -> str:
    """Return the digest under which the state of an owner's conversation is kept, "" for no conversation.

    The id itself is never recorded, because the id of an MCP session is a secret. Raises WrongArgument for an invalid
    id.
    """
    WrongArgument.unless(conversation, str, "conversation")
    if not conversation:
        return ""
    if not is_conversation(conversation):
        message = f"conversation={conversation[:40]!r}: {EXPECTED}"
        raise WrongArgument(message)
    return digest(["conversation", owner, conversation])
