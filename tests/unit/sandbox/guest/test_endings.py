"""What a program gives back, where a top-level `return` stands inside of other statements."""

from __future__ import annotations

import pytest

from tests.unit.sandbox.guest.host_double import run_guest

MANAGER = """
class Manager:
    def __enter__(self):
        return "entered"
    def __exit__(self, *error):
        print(error)
    async def __aenter__(self):
        return "entered"
    async def __aexit__(self, *error):
        print(error)
"""


#: What a manager prints that is told of no error.
QUIET = "(None, None, None)\n"


@pytest.mark.parametrize(
    ("code", "value", "output"),
    [
        ("with Manager() as m:\n    return m", "entered", QUIET),
        ("for x in [1, 2]:\n    with Manager():\n        if x == 2:\n            return x", 2, QUIET * 2),
        ("async with Manager() as m:\n    return m", "entered", QUIET),
        ("with Manager():\n    if False:\n        return 1\n7", 7, QUIET),
        ("with Manager():\n    if False:\n        return 1\nresult = 8", 8, QUIET),
        ("try:\n    with Manager():\n        return 1\nexcept BaseException:\n    print('no')", 1, QUIET),
        ("with Manager():\n    try:\n        return 1\n    finally:\n        print('f')", 1, "f\n" + QUIET),
        ("import asyncio\nwith Manager():\n    return (await asyncio.gather(ns.op(a=1)))[0]", {"a": 1}, QUIET),
        ("n: int = 1\nglobal k\nk = 2\ndef f():\n    return n + k\nwith Manager():\n    return f()", 3, QUIET),
        ("class A: pass\nwith Manager():\n    return [A.__qualname__, 'A' in globals()]", ["A", True], QUIET),
        ("with Manager():\n    return ([y := x for x in [1, 2]], y)", [[1, 2], 2], QUIET),
        ("x = 1\n__version__ = '2'\nif x:\n    return [locals()['x'], globals()['__version__']]", [1, "2"], ""),
        ("__x = 1\ndef f():\n    global __x\n    __x = 2\nf()\nif True:\n    return __x", 2, ""),
        ("from math import *\nif True:\n    return floor(2.5)", 2, ""),
        ("if True:\n    return None", None, ""),
    ],
)  # fmt: skip
def test_a_program_returns_as_a_function_does(code: str, value: object, output: str) -> None:
    ended = run_guest(MANAGER + code, {"ns.op": lambda a: {"a": a}})

    assert ended.message == ""
    assert ended.value == value
    assert ended.output == output


def test_an_error_is_shown_at_its_line_of_the_program() -> None:
    ended = run_guest(MANAGER + "with Manager():\n    1 / 0\n    return 1")

    assert ended.failure["line"] == 12
    assert "in <module>" in ended.failure["traceback"]


def test_a_yield_outside_of_functions_stays_an_error_of_syntax() -> None:
    ended = run_guest(MANAGER + "with Manager():\n    yield 1\n    return 1")

    assert "'yield' outside function" in ended.message


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("def main():\n    return 1\nif __name__ == '__main__':\n    print('a')\n    main()", 1),
        ("async def main():\n    return 1\nif '__main__' == __name__:\n    main()", 1),
        ("import asyncio\nasync def main():\n    return 1\nif __name__ == '__main__':\n    asyncio.run(main())", 1),
        ("if __name__ == '__main__':\n    result = 1", 1),
        ("def main():\n    return 1\nif True:\n    return 2\nif __name__ == '__main__':\n    main()", 2),
        ("def main():\n    return 1\nif __name__ == '__other__':\n    main()", None),
        ("def main():\n    return 1\nif __name__ == '__main__':\n    main()\nelse:\n    pass", None),
        ("def main():\n    return 1\nif main():\n    main()", None),
    ],
)
def test_a_program_that_ends_as_a_script_does_gives_what_it_ends_with(code: str, value: object) -> None:
    ended = run_guest(code)

    assert ended.message == ""
    assert ended.value == value


def test_nobody_sees_how_a_program_returns() -> None:
    ended = run_guest(
        "import asyncio, sys\n"
        "task = asyncio.current_task()\n"
        "task.add_done_callback(lambda task: print(task.exception()))\n"
        "await asyncio.sleep(0)\n"
        "try:\n    return 1\nexcept (BaseException,) as error:\n    print(error)\nfinally:\n    print(sys.exc_info())\n"
    )

    assert (ended.value, ended.output) == (1, "(None, None, None)\nNone\n")
