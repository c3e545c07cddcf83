"""Every benchmark in turn: `python -m benchmarks`. Exits with 1 when any of them, or any peer, did not run."""

from __future__ import annotations

import subprocess
import sys

BENCHMARKS = ("engines", "processor_time", "service", "search", "calls", "menus", "journal", "retention")


def main() -> None:
    """Run each in a process of its own, so that none warms another's caches."""
    failed = []
    for name in BENCHMARKS:
        print(f"\n== {name}", flush=True)
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode:
            failed.append(name)
    if failed:
        sys.exit(f"did not run whole: {', '.join(failed)}")


if __name__ == "__main__":
    main()
