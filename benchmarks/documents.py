"""Reading API documents: processor time and memory, beside `json.loads` or libyaml on the same file.

    python -m benchmarks.documents FILE [FILE …]

Files are JSON or YAML, and may be compressed (`.xz`). Each measurement runs in its own process: the parser alone
(`parse`), everything up to the first search (`read`), and the same with a filled cache (`cached`). Memory is the peak
of the process.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import yaml

from codemode.settings import Settings, settings_for_document

UNUSED = "http://127.0.0.1:9"  # never called
WORK = ("parse", "read", "cached")


def parse(path: Path) -> int:
    """Parse a file with the parser alone. Return the number of paths."""
    text = path.read_text(encoding="utf-8")
    if text.lstrip()[:1] == "{":
        return len(json.loads(text)["paths"])
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return len(yaml.load(text, loader)["paths"])  # noqa: S506 -- a safe loader


def read(path: Path, folder: Path) -> int:
    """Read a document up to the first search, with the cache in `folder`. Return the number of operations."""
    import asyncio

    from codemode import CodeMode

    async def search() -> int:
        source = {"location": str(path), "base_url": UNUSED}
        settings = {"sources": {"api": source}, "state_folder": folder / "state", "cache_folder": folder / "cache"}
        async with CodeMode.from_settings(Settings.model_validate(settings)) as service:
            await service.search("list all users")
            return len(service.catalog)

    return asyncio.run(search())


def one(work: str, path: Path, folder: Path) -> None:
    """Measure one kind of work in this process, after loading all modules, and print JSON."""
    if work != "parse":
        from codemode import CodeMode

        CodeMode.from_settings(settings_for_document(str(path), base_url=UNUSED))  # loads the modules
    started = time.process_time()
    operations = parse(path) if work == "parse" else read(path, folder)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"cpu_s": time.process_time() - started, "mib": usage.ru_maxrss / 1024, "operations": operations}))


def measured(work: str, path: Path, folder: Path) -> dict[str, float]:
    """Return the measurement of a new process."""
    command = [sys.executable, "-m", "benchmarks.documents", "--one", work, "--folder", str(folder), str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ})  # noqa: TID251
    if ended.returncode:
        sys.exit(ended.stderr[-2000:])
    figures: dict[str, float] = json.loads(ended.stdout)
    return figures


def main() -> None:
    """Print a line for each file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--one", choices=WORK)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if options.one:
        one(options.one, options.files[0], options.folder)
        return
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, Python {sys.version.split()[0]}; CPU seconds (peak MiB)")
    print(f"{'document':32} {'operations':>10} {'parser':>16} {'first search':>16} {'from cache':>16}")
    for path in options.files:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            plain = folder / path.name.removesuffix(".xz")
            plain.write_bytes(lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes())
            figures = [measured(work, plain, folder) for work in WORK]
        cells = " ".join(f"{row['cpu_s']:8.2f} ({row['mib']:5.0f})" for row in figures)
        print(f"{plain.name:32} {figures[1]['operations']:10} {cells}", flush=True)


if __name__ == "__main__":
    main()
