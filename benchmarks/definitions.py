"""Token counts of the definitions of `search` and `execute`, as compact JSON in o200k_base.

    make tokens        (installs the tokenizer data, then runs: python -m benchmarks.definitions [--record FILE])

Prints the counts for catalogs of up to a thousand domains, in the formats of chat completions and MCP. `--record`
writes the digest and count of one catalog to a file, which a test compares with the current definitions.
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

#: Goal: tokens of both definitions together, for any catalog.
GOAL_TOKENS = 350

#: Realistic domain names.
DOMAINS = (
    *("github", "stripe", "google_drive", "salesforce", "kubernetes", "slack", "jira", "confluence", "datadog"),
    *("pagerduty", "notion", "cloudflare", "openai", "twilio", "sendgrid", "hubspot", "zendesk", "shopify", "asana"),
    *("box", "docusign", "linode", "digitalocean", "gitlab", "gitea", "elasticsearch", "postgres", "redis", "s3"),
    *("internal_billing", "hr_portal", "warehouse", "calendar", "mail", "contacts", "crm", "tickets", "wiki", "files"),
    *("memory", "weather", "time", "fetch"),
)


def catalog_of(domains: Sequence[str]) -> Catalog:
    """Return a catalog with one tool in each domain."""
    return Catalog([make_tool(f"{domain}.things.list") for domain in domains])


def compact(definitions: Any) -> str:
    """Return the compact JSON that is counted."""
    return json.dumps(definitions, ensure_ascii=False, separators=(",", ":"))


def digest(definitions: Any) -> str:
    """Return the SHA-256 of the compact JSON."""
    return hashlib.sha256(compact(definitions).encode()).hexdigest()


def tokens_of(definitions: Any, tokenizer: Tokenizer) -> int:
    """Return the number of tokens of the compact JSON."""
    return len(tokenizer.encode_ordinary(compact(definitions)))


def main() -> int:
    """Print the table. Return 1 if a count exceeds the goal, and 2 without a tokenizer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", type=Path)
    record = parser.parse_args().record
    tokenizer = local_tokenizer(tokenizer_folder())
    if tokenizer is None:
        print("no tokenizer data: run `make tokens`, or set TIKTOKEN_CACHE_DIR to its folder")
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
    """Convert a definition to the format of MCP `tools/list`."""
    function = definition["function"]
    return {
        "name": function["name"],
        "description": function["description"],
        "inputSchema": function["parameters"],
    }


if __name__ == "__main__":
    sys.exit(main())
