"""Options of `codemode measure`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from codemode.bench.results import Policy

# What is played.
SuiteName = Annotated[
    str, typer.Argument(metavar="SUITE", help="TASKS.yaml, gym, FILE.py:NAME, or in a clone agentdojo, bfcl, m3, tau2.")
]
Tasks = Annotated[
    str, typer.Option(help="The first N tasks, task ids separated by commas, or @FILE of lines `SUITE ID`.")
]
Repeats = Annotated[int, typer.Option(min=1, help="Attempts at each task.")]
Jobs = Annotated[
    int | None, typer.Option(min=1, max=64, help="Tasks that run at the same time. Default: 2; on your own sources 1.")
]

# Who plays, and how.
Model = Annotated[
    str, typer.Option(help="The model, `gold`, the default: the suite's own programs, or `idle`: does nothing.")
]
ModelUrl = Annotated[str, typer.Option(help="Its base URL up to /v1. Default: OPENAI_BASE_URL.")]
Modes = Annotated[
    str,
    typer.Option(
        help="How the model gets the tools: code, hybrid, menu, native, deferred, off, auto, fastmcp, pydantic-ai. "
        "Default: `modes` of TASKS.yaml, else code."
    ),
]
Temperature = Annotated[float | None, typer.Option(min=0, max=2, help="Sampling temperature.")]
Seed = Annotated[int | None, typer.Option(help="Sampling seed, for services that support it.")]
PolicyName = Annotated[
    Policy | None, typer.Option(help="Destructive calls: `off`, the default, allows, `ask` pauses, `deny` hides.")
]

# What is written and read.
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "--results",
        help="File of results. Attempts in it are not repeated. Default: bench.jsonl; on your own sources none.",
    ),
]
Record = Annotated[Path | None, typer.Option(help="Append the model's answers to this file.")]
Replay = Annotated[Path | None, typer.Option(help="Answer from this recording, without the model.")]
About = Annotated[list[str] | None, typer.Option(help="NAME=VALUE to add to the origin of results. Repeatable.")]

# What a report has.
Files = Annotated[list[Path], typer.Argument(help="Files of results, as `codemode measure` writes them.")]
Format = Annotated[Literal["markdown", "html"], typer.Option("--format", help="Format of the report.")]
Prices = Annotated[str, typer.Option(help="INPUT,CACHED,OUTPUT: prices of a million tokens.")]
Export = Annotated[
    Path | None, typer.Option(help="Write the figures alone to this file, without texts of suites and models.")
]
