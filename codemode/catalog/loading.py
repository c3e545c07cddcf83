"""Steps of loading a catalog: sources are read, tools are indexed and embedded. Listeners show or log them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

log = logging.getLogger(__name__)

#: `reading` and `parsing` begin a source, `loaded` and `failed` end it. `indexing` and `embedding` begin work on all
#: tools, `indexed` and `embedded` end it.
Step = Literal["reading", "parsing", "loaded", "failed", "indexing", "indexed", "embedding", "embedded"]


@dataclass(frozen=True, slots=True)
class LoadingStep:
    """One step. Fields that a step does not have are empty.

    - `source`: the name of the source.
    - `size_bytes`: the size of its document, for `parsing`.
    - `tools`: for `loaded`, the tools of the source; else all tools of the catalog.
    - `done`: the number of embedded tools, for `embedding`, which is repeated after each batch.
    - `duration_s`: seconds since the work began, for the steps that end it.
    """

    step: Step
    source: str = ""
    size_bytes: int = 0
    tools: int = 0
    done: int = 0
    duration_s: float = 0.0


#: Receives steps. It is called in the event loop and in threads, and must return at once.
LoadingListener = Callable[[LoadingStep], None]


def log_loading(step: LoadingStep) -> None:
    """Log the size of each document, and the end of all work."""
    if step.step == "parsing":
        log.info("document read", extra={"source": step.source, "bytes": step.size_bytes})
    elif step.step in ("loaded", "failed"):
        facts = {"source": step.source, "tools": step.tools, "seconds": round(step.duration_s, 3)}
        log.info("source loaded" if step.step == "loaded" else "source failed", extra=facts)
    elif step.step in ("indexed", "embedded"):
        log.info("tools %s", step.step, extra={"tools": step.tools, "seconds": round(step.duration_s, 3)})
