"""M3ToolEval (repository xingyaoww/code-act, MIT): 82 tasks that combine several tools, judged by the answer.

Source: Wang et al., "Executable Code Actions Elicit Better LLM Agents", ICML 2024. The repository has no gold actions.
Of the tasks that are written out, the expected answer is an expression over the tools, which serves as gold program.
For web pages the gold program follows every link, and answers only with what it has seen, so that sums stay unsolved.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import io
import sys
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemode.bench.suite import Episode, Run, Task, Verdict
from codemode.bench.tools import SuiteTool
from codemode.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NAMESPACE = "m3"

#: Why gold programs do not solve the tasks with these names.
_GOLD_FAILS = {
    "*/find_most_common_nucleotide_combined_sequence": "a tool returns a tuple, which is a list in a program",
    "*/match_phone_number_to_person_*": "links lead to /team/customer_support, the page is /team/customer-support",
    "*/total_price_of_selected_items_after_discount_*": "the message asks for two decimals, and the judge for more",
    "*/total_price_of_selected_items_*": "there are no gold actions, and the walk adds no prices up",
}

#: Where the repository has the suite.
_FOLDER = Path("scripts", "eval", "m3tooleval")


class M3ToolEval:
    """The tasks in a clone of the repository."""

    name = "m3"

    def __init__(self, folder: str = "") -> None:
        if not folder:
            raise ConfigurationError("m3 needs a clone of github.com/xingyaoww/code-act: `codemode measure m3:FOLDER`")
        self._folder = next((one for one in (Path(folder) / _FOLDER, Path(folder)) if (one / "tasks").is_dir()), None)
        if self._folder is None:
            message = f"{folder} has no {_FOLDER / 'tasks'}: it is not a clone of github.com/xingyaoww/code-act"
            raise ConfigurationError(message)

    def tasks(self) -> Sequence[Task]:
        """Return the tasks, in the order of the repository. Raises ConfigurationError without its requirements."""
        sys.path.insert(0, str(self._folder))
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                found = list(importlib.import_module("tasks").get_task_iterator())
        except ImportError as error:
            message = f"the suite m3 cannot be imported ({error}): pip install ipython tqdm"
            raise ConfigurationError(message) from None
        finally:
            sys.path.remove(str(self._folder))
        gold = {name: program for module in _modules() for name, program in _written_out(module)}
        return [
            Task(
                one.name,
                [one.instruction],
                partial(_begin, one, gold.get(one.name, "")),
                gold_fails=next((why for pattern, why in _GOLD_FAILS.items() if fnmatch(one.name, pattern)), ""),
            )
            for one in found
        ]


def _begin(task: Any, gold: str) -> Episode:
    tools = task.tools() if callable(task.tools) else task.tools  # a function gives each attempt a browser of its own

    async def judge(run: Run) -> Verdict:
        solved = task.check_answer(run.turns[-1].answer)
        return Verdict(bool(solved), "" if solved else f"expected {task.expected_output!r}")

    return Episode(
        judge,
        gold=[gold or _walk(task)],
        tools={NAMESPACE: [_tool(one) for one in tools.values()]},
        has_trace=bool(gold),  # a walk reads all pages
    )


def _tool(described: Any) -> SuiteTool:
    parameters = _parameters(described.function)
    spread = next((one.name for one in parameters if one.kind is one.VAR_POSITIONAL), None)
    properties = {one.name: {"type": "array"} if one.name == spread else {} for one in parameters}
    required = [one.name for one in parameters if one.default is one.empty and one.name != spread]

    def call(**arguments: Any) -> Any:
        more = arguments.pop(spread, ()) if spread else ()
        first = [arguments.pop(one.name) for one in parameters if spread and one.name in arguments]
        return described.function(*first, *more, **arguments)

    schema = {"type": "object", "properties": properties, "required": required}
    return SuiteTool(described.name, f"{described.description}\n{described.fn_signature}", schema, call)


def _parameters(function: Any) -> Sequence[inspect.Parameter]:
    """Return the parameters of a function. Some tools are `min` and `max`, which declare none."""
    if inspect.isbuiltin(function):
        return [inspect.Parameter("values", inspect.Parameter.VAR_POSITIONAL)]
    return list(inspect.signature(function).parameters.values())


def _modules() -> Iterator[Any]:
    return (module for name, module in list(sys.modules.items()) if name.startswith("tasks.impl."))


def _written_out(module: Any) -> Iterator[tuple[str, str]]:
    """Yield the name and the gold program of each `Task(…)` in the source of a module whose answer calls tools."""
    tools: Mapping[str, Any] = getattr(module, "CUR_TOOLS", {})
    functions = {one.function.__name__: one for one in tools.values() if not inspect.isbuiltin(one.function)}
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Task":
            fields = {str(one.arg): one.value for one in node.keywords}
            if functions:
                name = eval(ast.unparse(fields["name"]), vars(module))  # noqa: S307 -- an f-string of the repository
                yield name, _program(fields["expected_output"], functions, vars(module))


def _program(expected: ast.expr, functions: Mapping[str, Any], names: Mapping[str, Any]) -> str:
    """Return the expression as a program, after the module's other functions that it calls. Its result is a text."""
    called = [node.id for node in ast.walk(expected) if isinstance(node, ast.Name) and node.id not in functions]
    helpers = [inspect.getsource(names[one]) for one in called if inspect.isfunction(names.get(one))]
    rewriting = _ToolCalls(functions, names)
    *definitions, answer = (ast.unparse(rewriting.visit(part)) for part in (*map(ast.parse, helpers), expected))
    return "\n".join((*definitions, f"str({answer})"))


class _ToolCalls(ast.NodeTransformer):
    """Rewrites calls of the module's functions as calls of tools with named arguments, and its constants as values."""

    def __init__(self, functions: Mapping[str, Any], names: Mapping[str, Any]) -> None:
        self._functions = functions
        self._names = names

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Name) or node.func.id not in self._functions:
            return node
        described = self._functions[node.func.id]
        keywords = list(node.keywords)
        for index, parameter in enumerate(_parameters(described.function)):
            if parameter.kind is parameter.VAR_POSITIONAL:
                keywords.append(ast.keyword(parameter.name, ast.List(node.args[index:], ast.Load())))
            elif index < len(node.args):
                keywords.append(ast.keyword(parameter.name, node.args[index]))
        return ast.Call(ast.parse(f"{NAMESPACE}.{described.name}", mode="eval").body, [], keywords)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        value = self._names.get(node.id)
        return ast.parse(repr(value), mode="eval").body if isinstance(value, list | str | int | float) else node


def _walk(task: Any) -> str:
    return _WALK.replace("EXPECTED", repr(str(task.expected_output)))


_WALK = """
import re
seen, texts = set(), []

def read():
    page = [m3.view()]
    while "[Reached the bottom" not in (more := m3.scroll_down()):
        page.append(more)
    texts.extend(page)
    return re.findall(r"\\[Clickable '([^']+)'\\]", "".join(page))

def follow(links):
    for link in links:
        if link not in seen:
            seen.add(link)
            if "[Opened page" in m3.click_url(url=link):
                follow(read())
                m3.go_to_previous_page()

follow(read())
EXPECTED if EXPECTED in "".join(texts) else f"not on the {len(seen)} pages"
"""


suite = M3ToolEval
