"""TOML is edited in place."""

from __future__ import annotations

import tomllib

import pytest

from codemode.text.toml import with_table, without_table

CONFIG = """# my settings
model = "o5"

[mcp_servers.a]
command = "x" # kept

[mcp_servers.a.env]
K = "v"

# about the projects
[projects."/home/me"]
trust_level = "trusted"
"""


def test_a_table_is_added_at_the_end() -> None:
    edited = with_table(CONFIG, ["mcp_servers", "b"], {"command": "y", "args": ["1", 'q"uote'], "env": {"K": "w"}})
    assert edited.startswith(CONFIG)
    assert tomllib.loads(edited)["mcp_servers"]["b"] == {"command": "y", "args": ["1", 'q"uote'], "env": {"K": "w"}}


def test_a_table_is_replaced_where_it_is_with_its_subtables() -> None:
    edited = with_table(CONFIG, ["mcp_servers", "a"], {"command": "y", "enabled": True})
    begin, end = CONFIG.index("[mcp_servers.a]"), CONFIG.index("# about")
    assert edited == f'{CONFIG[:begin]}[mcp_servers.a]\ncommand = "y"\nenabled = true\n\n{CONFIG[end:]}'


def test_a_table_is_removed_with_its_subtables() -> None:
    begin, end = CONFIG.index("[mcp_servers.a]"), CONFIG.index("# about")
    assert without_table(CONFIG, ["mcp_servers", "a"]) == CONFIG[:begin] + CONFIG[end:]
    assert without_table('[a."b c"]\nx = 1\n', ["a", "b c"]) == ""


def test_a_table_without_a_header_is_not_found() -> None:
    for text in ("", 'mcp_servers = {a = {command = "x"}}\n', 'mcp_servers.a.command = "x"\n'):
        with pytest.raises(KeyError):
            without_table(text, ["mcp_servers", "a"])


def test_a_key_that_is_not_bare_is_quoted() -> None:
    edited = with_table("", ["mcp_servers", "my server"], {"a.b": 1})
    assert edited == '[mcp_servers."my server"]\n"a.b" = 1\n'


def test_a_line_ends_with_a_line_feed_alone() -> None:
    text = '[a]\nx = "1\x85[mcp_servers.b]\u2028"\n'
    edited = with_table(text, ["mcp_servers", "b"], {"command": "y"})
    assert edited.startswith(text)
    assert without_table(edited, ["mcp_servers", "b"]).startswith(text)
