"""The shapes of chat messages. Texts of programs and services cannot format, mention or link there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codemode.text.visible import marked

if TYPE_CHECKING:
    from codemode.features.notify.notice import Notice

#: Longest text of a fact. Slack rejects fields above 2,000 characters, and sections above 3,000.
_LONGEST = 1500


def slack_body(notice: Notice) -> dict[str, Any]:
    """Return the body for an incoming webhook of Slack (Block Kit). Facts are plain text."""
    facts = "\n".join(f"{label}: {text}" for label, text in notice.facts().items())
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": _plain(notice.title[:150])},
        {"type": "section", "text": _plain(facts[:_LONGEST])},
    ]
    if notice.link:
        button = {"type": "button", "text": _plain("Open"), "url": notice.link}
        blocks.append({"type": "actions", "elements": [button]})
    return {"text": _escaped(marked(notice.title)), "blocks": blocks}


def teams_body(notice: Notice) -> dict[str, Any]:
    """Return the body for a workflow of Teams: one adaptive card (version 1.4)."""
    facts = [{"title": label, "value": _unformatted(text[:_LONGEST])} for label, text in notice.facts().items()]
    title = {"type": "TextBlock", "text": _unformatted(marked(notice.title)), "weight": "Bolder", "wrap": True}
    card: dict[str, Any] = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [title, {"type": "FactSet", "facts": facts}],
    }
    if notice.link:
        card["actions"] = [{"type": "Action.OpenUrl", "title": "Open", "url": notice.link}]
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return {"type": "message", "attachments": [attachment]}


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": marked(text), "emoji": False}


def _escaped(text: str) -> str:
    """Escape Slack's control characters, which begin mentions and links."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


#: Characters with a meaning in the Markdown of adaptive cards.
_MARKDOWN = str.maketrans({character: f"\\{character}" for character in r"\`*_{}[]()#+!<>|~"})


def _unformatted(text: str) -> str:
    return text.translate(_MARKDOWN)
