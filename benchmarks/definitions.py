"""What the definitions of `search` and `execute` cost a model, in tokens of o200k_base of their compact JSON.

    make tokens        (installs the tokenizer's data, then: python -m benchmarks.definitions [--record FILE])

Prints the count for catalogs of one domain to a thousand, in the shape of chat completions and in that of MCP, and
writes digest and count of one of them to `--record`, which the suite holds the definitions against.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemode.catalog.catalog import Catalog
from codemode.catalog.definitions import two_tools
from codemode.catalog.tokens import local_tokenizer
from codemode.settings import tokenizer_folder
from codemode.testing import make_tool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.catalog.tokens import Tokenizer

#: The goal: tokens of both definitions together, at any catalog.
GOAL_TOKENS = 350

#: Domains as people name them.
DOMAINS = (
    *("github", "stripe", "google_drive", "salesforce", "kubernetes", "slack", "jira", "confluence", "datadog"),
    *("pagerduty", "notion", "cloudflare", "openai", "twilio", "sendgrid", "hubspot", "zendesk", "shopify", "asana"),
    *("box", "docusign", "linode", "digitalocean", "gitlab", "gitea", "elasticsearch", "postgres", "redis", "s3"),
    *("internal_billing", "hr_portal", "warehouse", "calendar", "mail", "contacts", "crm", "tickets", "wiki", "files"),
    *("memory", "weather", "time", "fetch"),
)


def catalog_of(domains: Sequence[str]) -> Catalog:
    """A catalog with one tool in each domain."""
    return Catalog([make_tool(f"{domain}.things.list") for domain in domains])


def compact(definitions: Any) -> str:
    """JSON as it is counted."""
    return json.dumps(definitions, ensure_ascii=False, separators=(",", ":"))


def digest(definitions: Any) -> str:
    """SHA-256 of the JSON as it is counted."""
    return hashlib.sha256(compact(definitions).encode()).hexdigest()


def tokens_of(definitions: Any, tokenizer: Tokenizer) -> int:
    """How many tokens the compact JSON has."""
    return len(tokenizer.encode_ordinary(compact(definitions)))


def main() -> int:
    """Print the table; 1 where a count is over the goal, 2 where there is no tokenizer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", type=Path)
    record = parser.parse_args().record
    tokenizer = local_tokenizer(tokenizer_folder())
    if tokenizer is None:
        print("no tokenizer: `make tokens` installs its data, or name the folder with TIKTOKEN_CACHE_DIR")
        return 2
    counts = []
    print(f"o200k_base, {datetime.now(UTC):%Y-%m-%d}\n{'domains':>8} {'completions':>12} {'MCP':>6}")
    for domains in ((), DOMAINS[:1], DOMAINS, [f"domain_{number}" for number in range(1000)]):
        definitions = two_tools(catalog_of(domains))
        counts += [tokens_of(definitions, tokenizer), tokens_of(list(map(_listed, definitions)), tokenizer)]
        print(f"{len(domains):>8} {counts[-2]:>12} {counts[-1]:>6}")
    if record is not None:
        definitions = two_tools(catalog_of(DOMAINS))
        facts = {"sha256": digest(definitions), "tokens": tokens_of(definitions, tokenizer)}
        record.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
        print(f"{record}: {facts}")
    return int(max(counts) > GOAL_TOKENS)


def _listed(definition: dict[str, Any]) -> dict[str, Any]:
    """The same definition as `tools/list` of MCP has it."""
    function = definition["function"]
    return {
        "name": function["name"],
        "description": function["description"],
        "inputSchema": function["parameters"],
    }


if __name__ == "__main__":
    sys.exit(main())
