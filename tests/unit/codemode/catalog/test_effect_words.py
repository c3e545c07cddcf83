"""What words say of the effect of an operation: in names, in summaries and descriptions, in several languages."""

from __future__ import annotations

import pytest

from codemode.catalog.effect_table import ALWAYS, FOREIGN, SOME_OBJECTS, UNSPACED
from codemode.catalog.effect_words import destructive_word

DESTROYS = [
    "bulk_delete_clients",
    "bulkDeleteClients",
    "chroma.system.reset",
    "reset",
    "productDelete",
    "purge_queue",
    "wipeDevice",
    "hard_delete",
    "archive_and_delete",
    "findOneAndDelete",
    "find_by_id_and_remove",
    "schedule_key_deletion",
    "drop_table",
    "truncate_table",
    "factory_reset",
    "reset_database",
    "flushall",
    "flush_db",
    "clear_history",
    "empty_trash",
    "/clients/bulk-delete",
    "items:batchDelete",
    "kunden_loeschen",
    "KundeLöschen",
    "supprimer_client",
    "eliminarCliente",
    "borrar_todo",
    "удалитьКлиента",
    "删除客户",
    "顧客を削除",
    "Deletes up to 200 clients. This cannot be undone.",
    "Bulk delete clients",
    "Permanently removes an account",
    "Use this endpoint to delete a user",
    "This endpoint deletes a user",
    "Allows you to delete a user",
    "Archives and deletes the records",
    "Create, update or delete an item",
    "Löscht bis zu 200 Kunden",
    "Einen Kunden dauerhaft löschen",
    "Supprime un client",
    "Suppression d'un client",
    "Elimina un cliente de forma permanente",
    "Exclui um cliente",
    "Elimina definitivamente un cliente",
    "Cancella l'utente",
    "Usuwa klienta",
    "Удаляет клиента",
    "删除指定的客户",
    "顧客を削除します",
    "고객을 삭제합니다",
    "يحذف العميل",
    "Account deletion",
    "Removal of users",
    "Wipes the store. All data will be lost.",
    "Compacts the store. This deletes the history.",
    "Resets the database",
    "Reset everything",
    "Submits an order. This action is irreversible.",
    "gym.clients.bulk_delete Deletes clients",
    "Erase all content and settings",
    "Terminate an instance",
    "Cleans up. Permanently deletes stale rows.",
    "Bulk-delete clients",
    "Mass delete contacts",
    "Delete",
    "DELETE",
    "purgeAll",
    "Nuke the cluster",
    "Drops the table",
    "delete-all",
    "Merges two clients. Deletes the duplicate.",
    "Merges two clients into one (deletes the duplicate)",
    "Merges the data from one client into another and deletes the duplicate",
    "Merge two clients; the duplicate is deleted",
    "Combines two clients by deleting the duplicate",
    "Replaces the whole list. All others are lost.",
]


def test_a_text_says_that_something_is_destroyed() -> None:
    assert [text for text in DESTROYS if not destructive_word(text)] == []


MENTIONS = [
    "",
    "deleted_at",
    "get_deleted_items",
    "list_deleted",
    "undelete",
    "restore_deleted",
    "get_delete_policy",
    "create_release",
    "reset_password",
    "resetPassword",
    "passwordReset",
    "remove_duplicates",
    "cancel_deletion",
    "update_delete_protection",
    "create_remove_token",
    "get_client",
    "list_clients",
    "on_delete",
    "Does not delete anything",
    "This does not delete the client",
    "List deleted items",
    "Lists clients, including deleted ones",
    "Restore a deleted client",
    "Creates a client without deleting the old one",
    "Resets a user's password",
    "Set whether users can create or delete items",
    "Prevents an item from being deleted",
    "Returns true if the item was deleted",
    "Drop-off locations",
    "Release notes",
    "Empty state",
    "Format a date",
    "Clear the filter",
    "Löscht nicht",
    "Zeigt gelöschte Kunden",
    "列出已删除的客户",
    "不删除客户",
    "削除された顧客を一覧する",
    "Remove background from an image",
    "Add or remove members",
    "Undo a deletion",
    "Cancels the deletion of a key",
    "Archives a client; nothing is deleted",
    "If set, the client is permanently deleted.",
    "Creates a user. Unless confirmed, this cannot be undone.",
    "send_reset_email",
    "request_password_reset",
    "Close a ticket",
    "Void",
    "Get deletion status",
    "Download the file before it is permanently deleted",
    "Updates a client. Set `purge` to delete its history.",
    "dropdown_options",
    "delete_policy_check",
    "Suppression list",
    "Terminology lookup",
    "removed_items",
    "is_deleted",
    "auto_delete_enabled",
    "Deletes nothing. Shows the plan.",
    "Uploads a file. Files are deleted after 24 hours.",
    "Returns an error if the client is deleted",
    "Creates a rule that finds and deletes old mails",
    "Updates a client. It is not deleted.",
]


def test_a_mention_of_destruction_says_nothing() -> None:
    assert {text: word for text in MENTIONS if (word := destructive_word(text)) is not None} == {}


OTHERS = [*(f"{word} 7" for words in FOREIGN.values() for word in words.split()), *(f"{word}7" for word in UNSPACED)]


def test_every_word_of_another_language_counts_in_a_text_and_in_a_name() -> None:
    assert [text for text in OTHERS if not destructive_word(text)] == []
    assert [text for text in OTHERS if not destructive_word(text.replace(" ", "_"))] == []


def test_every_verb_counts_as_a_name_and_as_a_command_and_not_as_a_participle() -> None:
    for verb in sorted(ALWAYS):
        assert destructive_word(f"{verb}_client") == verb
        assert destructive_word(f"{verb} a client") == verb
        assert destructive_word(f"list_{verb}d_clients") is None


def test_a_verb_of_some_objects_needs_one_of_them() -> None:
    for verb in sorted(SOME_OBJECTS):
        assert destructive_word(f"{verb}_{SOME_OBJECTS[verb].split()[0]}") == verb
        assert destructive_word(f"{verb}_parcel") is None


def test_the_word_that_decided_is_told() -> None:
    assert destructive_word("bulk_delete_clients") == "delete"
    assert destructive_word("Wipes the store") == "wipes"
    assert destructive_word("Ends it. This cannot be undone.") == "can not be undone"


@pytest.mark.parametrize("part", ["_", "a.", "delete, ", "use this ", "aA", "all ", "\u0301", "(", "清空"])
def test_a_text_of_a_million_characters_is_read_as_far_as_a_description_goes(part: str) -> None:
    destructive_word(part * (1_000_000 // len(part)))  # the time limit of the tests ends what does not end
