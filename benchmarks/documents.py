"""Reading API documents: CPU seconds and memory beside `json.loads` or libyaml on the same file.

    python -m benchmarks.documents FILE [FILE …]

A file is JSON or YAML, and may be packed (`.xz`). Each measurement is a process of its own: parsing alone; parsing and
all that it takes to the first search (`read`); the same from the cache (`cached`). Memory is the peak of the process.
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

UNUSED = "http://127.0.0.1:9"  # nothing is called
WORK = ("parse", "read", "cached")


def parse(path: Path) -> int:
    """The parser alone, as everybody has it."""
    text = path.read_text(encoding="utf-8")
    if text.lstrip()[:1] == "{":
        return len(json.loads(text)["paths"])
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return len(yaml.load(text, loader)["paths"])  # noqa: S506 -- a safe loader


def read(path: Path, folder: Path) -> int:
    """From the file to the first search, with what is kept in `folder`."""
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
    """Measure one thing in this process, the modules loaded before; prints JSON."""
    if work != "parse":
        from codemode import CodeMode

        CodeMode.from_settings(settings_for_document(str(path), base_url=UNUSED))  # what is loaded once is loaded now
    started = time.process_time()
    operations = parse(path) if work == "parse" else read(path, folder)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"cpu_s": time.process_time() - started, "mib": usage.ru_maxrss / 1024, "operations": operations}))


def measured(work: str, path: Path, folder: Path) -> dict[str, float]:
    """The measurement of a process of its own."""
    command = [sys.executable, "-m", "benchmarks.documents", "--one", work, "--folder", str(folder), str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ})  # noqa: TID251
    if ended.returncode:
        sys.exit(ended.stderr[-2000:])
    found: dict[str, float] = json.loads(ended.stdout)
    return found


def main() -> None:
    """A line for each file."""
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
            found = [measured(work, plain, folder) for work in WORK]
        cells = " ".join(f"{row['cpu_s']:8.2f} ({row['mib']:5.0f})" for row in found)
        print(f"{plain.name:32} {found[1]['operations']:10} {cells}", flush=True)


if __name__ == "__main__":
    main()
