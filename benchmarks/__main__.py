"""Run all benchmarks one after another: `python -m benchmarks`. Exits with 1 if a benchmark or a peer did not run."""

from __future__ import annotations

import subprocess
import sys

BENCHMARKS = ("engines", "processor_time", "path", "search", "calls", "menus", "journal", "retention")


def main() -> None:
    """Run each benchmark in its own process, so that none warms the caches of another."""
    failed = []
    for name in BENCHMARKS:
        print(f"\n== {name}", flush=True)
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode:
            failed.append(name)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
