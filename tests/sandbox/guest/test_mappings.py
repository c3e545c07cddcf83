from __future__ import annotations

import mmap
import os
import subprocess
import sys
from pathlib import Path

from sandbox.guest.mappings import read_mappings

_ROOT = str(Path(__file__).parents[3])

_JOINED = """
import csv, decimal, hashlib, json, os, zlib
from sandbox.guest.mappings import join_mappings, read_mappings

before = read_mappings()
join_mappings()
after = read_mappings()
libraries = {piece.file for piece in before if piece.access == "r-xp" and piece.file}
print(len(before) - len(after) >= len(libraries))
print(any("w" in piece.access and "x" in piece.access for piece in after))


def pages(mappings):
    return {page for piece in mappings if piece.file for page in range(piece.start, piece.end, 4096)}


print(pages(before) == pages(after))
child = os.fork()
if not child:
    text = json.dumps({"n": str(decimal.Decimal(2).sqrt())}).encode()
    os._exit(zlib.decompress(zlib.compress(text)) != text or len(hashlib.sha256(text).hexdigest()) != 64)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_library_has_fewer_mappings_none_of_which_can_be_both_written_and_executed() -> None:
    done = subprocess.run([sys.executable, "-c", _JOINED], cwd=_ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False", "True", "0"]


def test_a_mapping_is_read_with_the_place_in_its_file(tmp_path: Path) -> None:
    path = tmp_path / "a name with spaces"
    path.write_bytes(bytes(3 * mmap.PAGESIZE))
    page = {"length": mmap.PAGESIZE, "offset": mmap.PAGESIZE, "flags": mmap.MAP_PRIVATE, "prot": mmap.PROT_READ}
    with path.open("rb") as file, mmap.mmap(file.fileno(), **page):
        (piece,) = (piece for piece in read_mappings() if piece.name == str(path))
        inode = os.fstat(file.fileno()).st_ino
    assert (piece.size, piece.access, piece.offset) == (mmap.PAGESIZE, "r--p", mmap.PAGESIZE)
    assert piece.file.endswith(f" {inode}")
