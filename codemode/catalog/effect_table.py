"""The word lists by which `codemode.catalog.effect_words` recognizes destructive operations."""

from __future__ import annotations

#: English verbs that are destructive with any object.
ALWAYS = frozenset(
    ("annihilate", "anonymise", "anonymize", "decommission", "del", "delete", "deprovision", "deregister", "destroy",
     "dropdb", "eradicate", "erase", "expunge", "flushall", "flushdb", "nuke", "obliterate", "prune", "purge",
     "remove", "revoke", "rm", "rmdir", "shred", "teardown", "terminate", "uninstall", "unregister", "wipe")
)  # fmt: skip

#: Verbs that are destructive with these objects, or without any object.
SOME_OBJECTS = {
    "clear": "data history database db table tables queue records entries log logs everything storage contents trash",
    "close": "account accounts",
    "discard": "change changes draft drafts",
    "drop": "catalog collection collections column columns constraint database databases db graph index indexes"
    " keyspace materialized partition schema schemas sequence stream table tables trigger user users view"
    " views",
    "empty": "bin bucket buckets folder folders recycle trash",
    "flush": "data database databases db everything index queue queues table tables",
    "forget": "contact contacts customer customers me person user users",
    "format": "disk disks drive drives partition volume volumes",
    "redact": "customer customers job order person shop user users",
    "release": "address addresses elastic host hosts ip number numbers phone",
    "reset": "account app application change changes collection config configuration data database databases db"
    " device environment everything factory instance index project repository schema server site state"
    " storage system workspace",
    "truncate": "all collection data database index stream table tables",
    "void": "cheque credit credit_note envelope invoice invoices order payment transaction",
}

#: Verbs of `SOME_OBJECTS` that are often nouns or harmless. Without an object they do not count.
MILD_ALONE = frozenset(
    ("clear", "close", "discard", "drop", "empty", "forget", "format", "redact", "release", "void")
)  # fmt: skip

#: Objects of "remove" and "prune" that are parts of a value: `remove_duplicates`.
OF_A_VALUE = frozenset(
    ("accents", "background", "bg", "blank", "character", "characters", "diacritics", "duplicate", "duplicates",
     "emoji", "emojis", "empty", "gap", "gaps", "html", "impurities", "missing", "noise", "nulls", "outlier",
     "outliers", "prefix", "punctuation", "silence", "space", "spaces", "stop", "stopword", "stopwords", "substring",
     "suffix", "vocals", "watermark", "whitespace", "whitespaces")
)  # fmt: skip

#: Destructive nouns: `schedule_key_deletion`, "Deletion of an account".
NOUNS = frozenset(
    ("deletion", "destruction", "erasure", "purge", "removal", "termination", "wipe")
)  # fmt: skip

#: Words that may precede the verb of a name or a sentence.
BEFORE = frozenset(
    ("admin", "and", "async", "automatically", "batch", "begin", "bulk", "completely", "confirm", "execute", "fast",
     "finally", "force", "forcefully", "forcibly", "fully", "hard", "immediately", "initiate", "instantly",
     "irreversibly", "irrevocably", "manually", "mass", "multi", "now", "or", "perform", "permanently", "physically",
     "please", "post", "put", "quick", "quickly", "recursively", "request", "run", "safely", "schedule", "securely",
     "soft", "softly", "start", "submit", "then", "to", "trigger", "try", "v1", "v2", "v3")
)  # fmt: skip

#: Verbs that make a later destructive word their object: `cancel_deletion`, `get_user_delete`, `on_delete`.
OTHER_VERBS = frozenset(
    ("abort", "accept", "add", "allow", "apply", "approve", "ask", "assign", "attach", "auto", "block", "build",
     "can", "cancel", "change", "check", "configure", "copy", "count", "create", "deny", "describe", "detect",
     "disable", "download", "edit", "enable", "estimate", "export", "fetch", "find", "generate", "get", "handle",
     "has", "import", "insert", "is", "link", "list", "log", "lookup", "make", "mark", "modify", "no", "not", "on",
     "open", "pause", "prevent", "preview", "protect", "publish", "query", "read", "record", "register", "reject",
     "rename", "replace", "report", "restore", "resume", "retrieve", "save", "search", "send", "set", "show",
     "simulate", "stop", "subscribe", "sync", "test", "track", "undo", "unset", "update", "upload", "upsert", "use",
     "validate", "verify", "view", "watch", "write")
)  # fmt: skip

#: Words after a verb that make both the name of a thing: `deletePolicyCheck`, `delete_marker`.
THINGS = frozenset(
    ("marker", "permission", "permissions", "policy", "protection", "status")
)  # fmt: skip

#: Verbs and nouns of other languages, without diacritics. They match whole words of a name or a first sentence.
FOREIGN = {
    "de": "losche loeschen loschen loscht loescht loschung loeschung entferne entfernen entfernt entfernung"
    " vernichten vernichtet zerstoren zerstort zurucksetzen zuruecksetzen widerrufen widerruft bereinigen",
    "fr": "supprimer supprime effacer efface effacement detruire detruit purger vider reinitialiser"
    " reinitialise revoquer enlever",
    "es": "eliminar elimina eliminacion borrar borra borrado suprimir suprime destruir destruye purgar vaciar"
    " vacia restablecer revocar",
    "pt": "excluir exclui exclusao apagar apaga deletar deleta remover remocao destruir limpar revogar",
    "it": "eliminare elimina eliminazione cancellare cancella cancellazione rimuovere rimuove rimozione"
    " distruggere distrugge svuotare svuota azzerare revocare",
    "nl": "verwijder verwijderen verwijdert verwijdering vernietigen vernietigt",
    "pl": "usun usuwa usunac usuwanie usuniecie skasuj skasowac wymaz wyczysc",
    "sv da nb": "radera raderar fjern fjerner slett slette sletter slet",
    "cs sk": "smaz smazat smaze smazani odstran odstranit odstrani vymazat",
    "tr": "silmek siler silin silme kaldirir",
    "ru uk bg": "удалить удаляет удаление удали стереть стирает очистить уничтожить уничтожает видалити видаляє"
    " изтриване изтрий",
    "ar": "حذف يحذف مسح إزالة",
}
#: Words of languages without spaces. They match anywhere in a first sentence.
UNSPACED = (
    "删除", "刪除", "清空", "清除", "销毁", "移除", "重置", "注销",
    "削除", "消去", "破棄", "抹消", "삭제", "제거", "초기화", "파기",
)  # fmt: skip

#: Phrases for a permanent effect. They count in any sentence.
IRREVERSIBLE = (
    r"can ?(?:no|')t be (?:undone|reversed|reverted|recovered|restored)",
    r"can never be (?:undone|recovered)",
    r"irreversibl[ey]",
    r"irrevocabl[ey]",
    r"irrecoverabl[ey]",
    r"unrecoverabl[ey]",
    r"not (?:be )?reversible",
    r"no (?:undo\b|way to (?:undo|recover|restore))",
    r"cannot undo",
    r"permanently (?:delete|remove|erase|destroy)s?\b",
    r"kann nicht (?:ruckgangig gemacht|wiederhergestellt) werden",
    r"nicht ruckgangig",
    r"unwiderruflich",
    r"irreversivel",
    r"irreversibile",
    r"ne (?:peut|peuvent) pas etre (?:annule|restaure)",
    r"definitivement",
    r"no se puede deshacer",
    r"nao pode(?:ra)? ser desfeit",
    r"non puo essere annullat",
    r"onomkeerbaar",
    r"необратим",
    r"不可恢复",
    r"不可逆",
    r"无法(?:撤销|恢复)",
    r"元に戻せ",
    r"取り消せ",
    r"되돌릴 수 없",
    r"복구할 수 없",
)

#: Words before an object that do not describe it.
DETERMINERS = frozenset(
    ("a", "all", "an", "any", "api", "complete", "endpoint", "entire", "every", "existing", "given", "its", "method",
     "one", "operation", "our", "specified", "that", "the", "their", "this", "whole", "your")
)  # fmt: skip
PREPOSITIONS = frozenset(
    ("and", "as", "at", "back", "by", "for", "from", "if", "in", "into", "of", "on", "or", "so", "than", "to",
     "using", "via", "when", "where", "which", "while", "with", "within")
)  # fmt: skip
#: Objects that make verbs such as "reset" harmless, whatever they belong to: "reset the user's password".
SPECIFIC = frozenset(
    ("auth", "authentication", "code", "count", "counter", "credential", "credentials", "email", "filter", "filters",
     "key", "limit", "limits", "mfa", "password", "passwords", "pin", "position", "score", "secret", "settings",
     "timer", "token", "tokens", "usage", "view")
)  # fmt: skip

#: Verbs of reading, as the verb of a name.
READING = frozenset(
    ("browse", "check", "compare", "count", "describe", "detect", "discover", "download", "estimate", "evaluate",
     "exists", "explain", "fetch", "filter", "find", "get", "has", "head", "inspect", "is", "list", "lookup",
     "paginate", "peek", "preview", "query", "read", "recognize", "retrieve", "scan", "search", "select", "show",
     "simulate", "stat", "summarize", "validate", "view")
)  # fmt: skip

#: Verbs of change beside those that destroy.
CHANGING = frozenset(
    ("accept", "ack", "acknowledge", "acquire", "activate", "add", "adjust", "allocate", "amend", "append", "apply",
     "approve", "archive", "assign", "attach", "authorize", "ban", "bill", "block", "book", "broadcast", "buy",
     "cancel", "change", "charge", "claim", "clone", "commit", "complete", "confirm", "consume", "copy", "create",
     "credit", "deactivate", "debit", "decline", "decrement", "deduct", "demote", "deploy", "dequeue", "detach",
     "disable", "disconnect", "dismiss", "dispatch", "duplicate", "edit", "email", "enable", "enqueue", "execute",
     "expire", "extend", "fill", "finalize", "finish", "follow", "forward", "freeze", "fulfil", "fulfill", "generate",
     "grant", "hide", "import", "increase", "increment", "insert", "install", "invalidate", "invite", "invoke",
     "issue", "join", "kill", "launch", "lease", "leave", "link", "lock", "log", "make", "mark", "merge", "migrate",
     "modify", "move", "mute", "notify", "open", "order", "overwrite", "patch", "pause", "pay", "pin", "place",
     "poll", "pop", "post", "promote", "provision", "publish", "purchase", "push", "put", "reassign", "reboot",
     "rebuild", "record", "redeem", "reduce", "refund", "register", "reject", "rename", "renew", "reopen", "replace",
     "reply", "reschedule", "reserve", "resize", "resolve", "restart", "restore", "resume", "retry", "revert",
     "rollback", "rotate", "run", "save", "schedule", "sell", "send", "set", "share", "ship", "shut", "sign", "spend",
     "start", "stop", "store", "submit", "subscribe", "suspend", "swap", "switch", "sync", "synchronize", "tag",
     "toggle", "transfer", "trigger", "unarchive", "unassign", "unblock", "undo", "unfollow", "unfreeze", "unlink",
     "unlock", "unpin", "unpublish", "unsubscribe", "update", "upgrade", "upload", "upsert", "vote", "withdraw",
     "write")
)  # fmt: skip

#: Verbs of change that often only compute an answer. They do not contradict a server that declares a read.
COMPUTING = frozenset(
    ("check", "copy", "create", "execute", "fill", "format", "generate", "make", "open", "poll", "run", "start")
)  # fmt: skip

#: Verbs of change whose third person is also a plural noun. They count only where a clause begins.
HOMOGRAPHS = frozenset(
    ("ban", "bill", "block", "book", "broadcast", "buy", "change", "charge", "claim", "clone", "commit", "copy",
     "credit", "debit", "deploy", "drop", "duplicate", "edit", "email", "extend", "fill", "format", "forward", "freeze",
     "grant", "import", "increase", "increment", "insert", "install", "invite", "issue", "join", "launch", "lease",
     "leave", "link", "lock", "log", "mark", "merge", "move", "open", "order", "patch", "pause", "pin", "place",
     "poll", "pop", "post", "purchase", "purge", "push", "record", "refund", "register", "release", "rename", "reply",
     "reset", "retry", "rollback", "run", "save", "schedule", "set", "share", "ship", "sign", "start", "stop", "store",
     "swap", "switch", "tag", "transfer", "trigger", "update", "upgrade", "upload", "vote", "void", "write")
)  # fmt: skip
