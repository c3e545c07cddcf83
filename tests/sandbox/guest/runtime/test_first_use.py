"""Nothing that a program may call imports a module for the first time: its worker reads no files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

#: Prints each import within a function of the modules that programs have, where it is of a module that is not loaded.
_PROGRAM = """
import ast, json, sys
from pathlib import Path
from sandbox.guest import program
from sandbox.guest.library.modules import OFFERED

program.warm_up()
late = []
for name in sorted({*OFFERED, "ast"}):
    file = getattr(sys.modules.get(name), "__file__", None)
    if not file or not file.endswith(".py"):
        continue
    for function in ast.walk(ast.parse(Path(file).read_text())):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        for node in ast.walk(function):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            late += [[name, function.name, each] for each in names if each not in sys.modules]
print(json.dumps(late))
"""

#: Functions of commands and of self-tests.
_OF_COMMANDS = {"main", "_main", "_parse_args", "_test"}
#: Imports that may fail, and functions that no program has.
_OTHERS = {
    ("hashlib", "_sha1"),  # these four where OpenSSL lacks one
    ("hashlib", "_md5"),
    ("hashlib", "_sha256"),
    ("hashlib", "_sha3"),
    ("traceback", "_suggestions"),  # of what was meant: there is a slower way
    ("warnings", "tracemalloc"),  # where something was allocated: left out
    ("xml.etree.ElementTree", "xml.parsers"),  # the parser in Python, of which the one in C takes the place
    ("email", "email.parser"),  # the package offers its modules alone
    ("logging", "pickle"),
    ("uuid", "shutil"),
}

#: Prints the modules that arithmetic with large numbers and well-known codecs import.
_BY_THE_INTERPRETER = """
import json, sys
from sandbox.guest import program

program.warm_up()
before = set(sys.modules)
divmod(10**20000, 10**7000), str(7**2000), int("9" * 4000)
sys.set_int_max_str_digits(0)
str(7**200000), int("9" * 20000)
for codec in sys.argv[1].split():
    "a".encode(codec).decode(codec)
print(json.dumps(sorted(set(sys.modules) - before)))
"""
_CODECS = (
    "cp437 cp850 cp1250 cp1251 cp1252 idna iso8859-1 iso8859-2 iso8859-15 koi8-r mac_roman punycode "
    "raw_unicode_escape unicode_escape utf-7 utf-8-sig utf-16 utf-16-be utf-32 utf-32-le"
)


def test_what_a_program_may_call_imports_nothing() -> None:
    root = str(Path(__file__).parents[4])
    done = subprocess.run([sys.executable, "-c", _PROGRAM], cwd=root, capture_output=True, text=True, check=True)
    found = [
        (module, function, late)
        for module, function, late in json.loads(done.stdout)
        if function not in _OF_COMMANDS and (module, late) not in _OTHERS
    ]
    assert found == []


def test_large_numbers_and_codecs_import_nothing() -> None:
    root = str(Path(__file__).parents[4])
    command = [sys.executable, "-c", _BY_THE_INTERPRETER, _CODECS]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
