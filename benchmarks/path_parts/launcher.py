"""`codemode` with the stage counters on: `python -m benchmarks.path_parts.launcher FILE serve …`.

On SIGUSR2 it writes FILE with the counters so far: the processor time without that of the clock, and a row for each
function. Only a server that was started by this module has counters.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.path_parts.clock import StageClock
from benchmarks.path_parts.stages import resolved


def main(file: str, *arguments: str) -> None:
    """Wrap the functions of all stages, and run the command."""
    clock = StageClock()
    own_s = clock.own_s()
    for function in list(resolved()):
        function.measure(clock)

    def write(*_: Any) -> None:
        rows = [(*key, *values) for key, values in clock.snapshot().items()]
        written = Path(f"{file}.new")
        process_s = time.process_time() - own_s * sum(calls for *_, calls in rows)
        written.write_text(json.dumps({"process_s": process_s, "rows": rows}), encoding="utf-8")
        written.rename(file)

    signal.signal(signal.SIGUSR2, write)
    from codemode.serving.cli.command import main as run_command

    sys.argv = ["codemode", *arguments]
    run_command()


if __name__ == "__main__":
    main(*sys.argv[1:])
