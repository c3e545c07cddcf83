"""What conversations remember, and with which texts their requests begin."""

from __future__ import annotations

from codemode import Caller
from codemode.model.memory import Memories, Memory

ANN, BOB = Caller("ann"), Caller("bob")
ANSWERED = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]


def test_a_conversation_that_another_object_continues_begins_in_the_same_way() -> None:
    memories, memory = Memories(), Memory()
    begun = memories.begin(memory, ANN, "hello", ANSWERED[:1])
    assert memories.begin(memory, ANN, "hello", ANSWERED) is begun
    assert memories.begin(Memory(), ANN, "hello", ANSWERED) is begun
    assert memories.begin(Memory(), BOB, "hello", ANSWERED) is not begun
    assert memories.begin(Memory(), ANN, "good morning", ANSWERED) is not begun


def test_the_same_message_begins_another_conversation_if_nothing_was_answered() -> None:
    memories = Memories()
    begun = memories.begin(Memory(), ANN, "hello", ())
    assert memories.begin(Memory(), ANN, "hello", ANSWERED[:1]) is not begun


def test_an_object_that_turns_to_another_conversation_begins_anew() -> None:
    memories, memory = Memories(), Memory()
    unasked = memories.begin(memory, ANN, "", ())
    assert memories.begin(memory, ANN, "hello", ()) is unasked
    other = memories.begin(memory, ANN, "good morning", ())
    assert other is not unasked
    assert memories.begin(memory, ANN, "hello", ANSWERED) is unasked
    memory.forget()
    assert memories.begin(memory, ANN, "hello", ()) is not unasked


def test_the_conversations_that_were_used_last_are_remembered() -> None:
    memories = Memories()
    first = memories.begin(Memory(), ANN, "0", ())
    for number in range(1, 1_001):
        memories.begin(Memory(), ANN, str(number), ())
    assert memories.begin(Memory(), ANN, "0", ANSWERED) is not first
    named = memories.of(ANN, "chat", "code")
    assert memories.of(ANN, "chat", "code") is named
    assert memories.of(ANN, "chat", "menu") is not named
    assert memories.of(ANN, "", "code") is not memories.of(ANN, "", "code")
