"""The effect of an operation: declared, by method, and by words."""

from __future__ import annotations

import pytest

from codemode.catalog.effects import Judgement, effect_of_method, effect_of_verb, exceeds, judge, worst
from codemode.catalog.tool import Effect


@pytest.mark.parametrize(
    ("method", "names", "texts", "expected"),
    [
        (Effect.WRITE, ("bulk_delete_clients",), ("Delete many clients",), ("destructive", "delete")),
        (Effect.WRITE, ("clientsBulk", "bulk-delete"), (), ("destructive", "delete")),
        (Effect.WRITE, ("removeToken", "remove-token"), (), ("destructive", "remove")),
        (Effect.WRITE, ("create_remove_token", "remove-token"), (), ("write", "")),
        (Effect.WRITE, ("reset_limit", "reset"), ("Reset a limit",), ("write", "")),
        (Effect.WRITE, ("system.reset",), ("Reset",), ("destructive", "reset")),
        (Effect.DESTRUCTIVE, ("unpin",), ("Takes a pin away",), ("destructive", "")),
        (Effect.READ, ("get_deletions",), ("Lists what was deleted. This cannot be undone.",), ("read", "")),
        (Effect.READ, ("delete_confirmation",), ("Shows the page that asks",), ("read", "")),
        (Effect.READ, ("fetch",), ("Deletes what it returns",), ("read", "")),
        (Effect.READ, ("auth.revoke",), ("Revokes a token.",), ("destructive", "revoke")),
        (Effect.READ, ("activateUser",), ("Activates a user",), ("write", "activate")),
        (Effect.READ, ("activateUser",), ("Shows how to activate a user",), ("read", "")),
        (Effect.READ, ("deleteUser",), ("", ""), ("destructive", "delete")),
        (Effect.WRITE, ("merge_clients",), ("Merges two; deletes the duplicate.",), ("destructive", "deletes")),
        (Effect.WRITE, ("repo_transfer",), ("Transfer a repository",), ("write", "")),
        (
            Effect.WRITE,
            ("repo_transfer",),
            ("Transfers it. This cannot be undone.",),
            ("destructive", "can not be undone"),
        ),
    ],
)
def test_words_add_to_what_the_method_says(
    method: Effect, names: tuple[str, ...], texts: tuple[str, ...], expected: tuple[str, str]
) -> None:
    assert judge(None, method, names, *texts) == (*expected, False)


def test_the_operator_s_own_code_decides() -> None:
    assert judge(Effect.WRITE, Effect.WRITE, ("delete_all",)) == (Effect.WRITE, "", True)
    assert judge(Effect.READ, Effect.WRITE, ("delete_all",), "Deletes all files.") == (Effect.READ, "", True)


READ, WRITE, DESTRUCTIVE = Effect


@pytest.mark.parametrize(
    ("hint", "name", "text", "expected"),
    [
        (READ, "read_file", "Reads a file.", Judgement(READ, is_said=True)),
        (READ, "tidy", "Deletes all files.", Judgement(DESTRUCTIVE, "deletes")),
        (READ, "tidy", "Will delete all files in the folder.", Judgement(DESTRUCTIVE, "delete")),
        (READ, "tidy", "You can delete all files with this.", Judgement(DESTRUCTIVE, "delete")),
        (READ, "tidy", "Tool that will delete all files.", Judgement(DESTRUCTIVE, "delete")),
        (READ, "tidy", "Lists files and will delete the old.", Judgement(DESTRUCTIVE, "delete")),
        (READ, "tidy", "Will list all files.", Judgement(READ, is_said=True)),
        (READ, "stop_it", "Shuts down the server.", Judgement(WRITE, "shuts")),
        (READ, "wipe_disk", "", Judgement(DESTRUCTIVE, "wipe")),
        (READ, "tidy", "Sorts. All files will be lost.", Judgement(DESTRUCTIVE, "all files will be lost")),
        (READ, "send_mail", "", Judgement(WRITE, "send")),
        (READ, "mail", "Sends a mail.", Judgement(WRITE, "sends")),
        (READ, "next_job", "Returns the next job and marks it as taken.", Judgement(WRITE, "marks")),
        (READ, "find_or_register", "", Judgement(WRITE, "register")),
        (READ, "create_summary", "Creates a summary of a text.", Judgement(READ, is_said=True)),
        (READ, "get_orders", "Lists the orders and charges of a client.", Judgement(READ, is_said=True)),
        (READ, "list_deleted", "Lists deleted files.", Judgement(READ, is_said=True)),
        (READ, "email_settings", "The settings of mails.", Judgement(READ, is_said=True)),
        (READ, "get_artifact_and_log_settings", "", Judgement(READ, is_said=True)),
        (READ, "find_one_and_update", "", Judgement(WRITE, "update")),
        (WRITE, "rename", "Renames a file.", Judgement(WRITE, is_said=True)),
        (WRITE, "tidy", "Deletes all files.", Judgement(DESTRUCTIVE, "deletes")),
        (DESTRUCTIVE, "get", "Reads a file.", Judgement(DESTRUCTIVE, is_said=True)),
    ],
)
def test_words_beat_a_milder_hint_of_a_foreign_server(hint: Effect, name: str, text: str, expected: Judgement) -> None:
    assert judge(None, WRITE, (name,), text, hint=hint) == expected


def test_a_method_has_one_effect_everywhere() -> None:
    methods = ("GET", "head", "QUERY", "POST", "put", "PATCH", "DELETE", "LOCK")
    assert [effect_of_method(method) for method in methods] == [READ] * 3 + [WRITE] * 3 + [DESTRUCTIVE] * 2


def test_a_vocabulary_of_verbs_is_enough_for_some_apis() -> None:
    assert effect_of_verb("ListBuckets") == READ
    assert effect_of_verb("CheckInLicense") == WRITE
    assert effect_of_verb("AdminDeleteUser") == DESTRUCTIVE


def test_effects_have_an_order() -> None:
    assert worst(()) == READ
    assert worst((READ, DESTRUCTIVE, WRITE)) == DESTRUCTIVE
    assert (exceeds(WRITE, READ), exceeds(READ, READ)) == (True, False)
