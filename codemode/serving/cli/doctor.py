"""Checks of `codemode doctor`: isolation, configuration, secrets, sources, folders, port."""

from __future__ import annotations

import errno
import importlib.util
import json
import os
import platform
import sys
import time
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from importlib.metadata import PackageNotFoundError, version
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from codemode.errors import CodeModeError, ConfigurationError
from codemode.executions.journal.configured import JOURNAL_FILE, journal_of, store_of
from codemode.executions.plugins.loading import load_hooks
from codemode.executions.run.executor import Executor
from codemode.serving.auth.keys import keys_of
from codemode.serving.cli.findings import Finding, State
from codemode.serving.cli.notify_check import messages
from codemode.serving.cli.predictions import named_like_modules, predictions
from codemode.serving.http.listening import bind, is_loopback
from codemode.settings import CallerReference, ConfigurationUntrusted, Secrets, Settings, references
from codemode.shared.extras import EXTRAS
from codemode.sources.check import check_surface
from codemode.sources.factory import load_source
from codemode.sources.proposals import looking_like_reads, proposed_reads
from codemode.sources.source import SourceContext
from codemode.text.counted import counted
from sandbox import REMEDIES, SandboxError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from codemode.serving.cli.predictions import Prediction
    from codemode.sources.factory import LoadedSource

OLDEST_PYTHON = (3, 11)

#: Seconds and bytes in which who listens on the port must say what it is.
_ANSWER_S, _ANSWER_BYTES = 2.0, 64 * 1024

#: Bytes of free space that a folder must have, and error numbers that mean a full disk.
_LEAST_BYTES = 1024 * 1024
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}

_PACKAGES = ("codemode", "fastapi", "httpx2", "pydantic", "RestrictedPython", "uvicorn")


async def examine(read: Callable[[], Settings]) -> list[Finding]:
    """Run all checks, in reading order. `read` may raise ConfigurationError."""
    findings = list(_versions())
    try:
        settings = read()
    except ConfigurationUntrusted as untrusted:
        fix = "read it, then run `codemode trust`"
        findings.append(Finding("configuration", "file", State.FAILURE, untrusted.question, fix))
        return [*findings, *await _isolation(Settings())]
    except ConfigurationError as error:
        findings.append(
            Finding("configuration", "file", State.FAILURE, str(error), "fix it, or write one with `codemode init`")
        )
        return [*findings, *await _isolation(Settings())]
    findings.append(Finding("configuration", "file", State.OK, counted(len(settings.sources), "source")))
    findings += await _isolation(settings)
    findings += _secrets(settings)
    findings += [Finding("sources", *_worded(one)) for one in named_like_modules(settings)]
    for name in settings.sources:
        findings += await _source(name, settings)
    findings += _plugins(settings)
    findings += await _journal(settings)
    findings += await messages(settings)
    findings += _folders(settings)
    findings += _server(settings)
    return findings


def verdict(findings: Sequence[Finding]) -> Finding:
    """Summarize all findings in one line."""
    failures, warnings = (
        [f"{one.area} {one.subject}" for one in findings if one.state is state]
        for state in (State.FAILURE, State.WARNING)
    )
    warned = f"{len(warnings)} warnings" if len(warnings) != 1 else "1 warning"
    if failures:
        summary = f"{len(failures)} failed: {', '.join(failures)}; {warned}"
        return Finding("verdict", "not ready", State.FAILURE, summary, "fix the failures above")
    state = State.WARNING if warnings else State.OK
    return Finding("verdict", "ready", state, warned if warnings else "no problems")


def _worded(one: Prediction) -> tuple[str, State, str, str]:
    return one.subject, State.FAILURE if one.is_fatal else State.WARNING, one.found, one.fix


def _versions() -> Iterator[Finding]:
    running = platform.python_version()
    supported = sys.version_info >= OLDEST_PYTHON
    wanted = ".".join(map(str, OLDEST_PYTHON))
    yield Finding(
        "versions",
        "Python",
        State.OK if supported else State.FAILURE,
        running,
        "" if supported else f"use {wanted} or later",
    )
    for package in _PACKAGES:
        try:
            yield Finding("versions", package, State.OK, version(package))
        except PackageNotFoundError:
            yield Finding("versions", package, State.FAILURE, "not installed", f"pip install {package}")
    for extra, module in EXTRAS.items():
        there = importlib.util.find_spec(module) is not None
        yield Finding(
            "versions", f"extra {extra}", State.OK, "installed" if there else f"not installed (codemode[{extra}])"
        )


async def _isolation(settings: Settings) -> list[Finding]:
    """Check each isolation layer, by what a sandbox child could and could not do."""
    try:
        executor = Executor(settings.sandbox, settings.limits)
    except ConfigurationError as error:
        return [Finding("isolation", "engine", State.FAILURE, str(error), "install it, or use sandbox.engine: process")]
    failure = ""
    try:
        await executor.start()
    except SandboxError as error:
        failure = str(error)
    finally:
        await executor.aclose()
    if failure and not executor.isolation:
        return [Finding("isolation", "sandbox", State.FAILURE, failure, "no program runs without it")]
    required = set(settings.sandbox.require)
    engine = [_MONTY] if settings.sandbox.engine == "monty" else []
    return engine + [_layer(layer, found, required=layer in required) for layer, found in executor.isolation.items()]


#: On Linux, there is a stronger engine.
_MONTY = Finding(
    "isolation",
    "engine",
    State.WARNING if sys.platform == "linux" else State.OK,
    "monty: programs are confined by the interpreter, not by the kernel",
    "use sandbox.engine: process" if sys.platform == "linux" else "",
)


def _layer(layer: str, found: str, *, required: bool) -> Finding:
    if found.startswith("in force"):
        return Finding("isolation", layer, State.OK, found)
    state = State.FAILURE if required else State.WARNING
    return Finding("isolation", layer, state, found, REMEDIES.get(layer, ""))


def _secrets(settings: Settings) -> Iterator[Finding]:
    """Check that every secret in the configuration is present, without showing it."""
    for place, reference in references(settings):
        if isinstance(reference, CallerReference) and reference.caller:
            yield Finding("secrets", place, State.OK, f"sent by each caller as {reference.caller}")
            continue
        try:
            reference.resolve()
        except ConfigurationError as error:
            yield Finding(
                "secrets", place, State.FAILURE, str(error), "set the variable or file that the configuration names"
            )
        else:
            yield Finding("secrets", place, State.OK, "present")


def _plugins(settings: Settings) -> Iterator[Finding]:
    """Check that each configured plugin can be loaded with its options."""
    for plugin in settings.plugins:
        try:
            load_hooks((plugin,))
        except ConfigurationError as error:
            yield Finding("plugins", plugin.name, State.FAILURE, str(error), "install it, or remove it from plugins:")
        else:
            yield Finding("plugins", plugin.name, State.OK, "loaded")


async def _source(name: str, settings: Settings) -> list[Finding]:
    """Check that a source can be read, and predict problems of its calls."""
    try:
        with closing(store_of(settings, Secrets())) as store:
            context = SourceContext(servers=settings.servers(), store=store)
            loaded = await load_source(name, settings.sources[name], context)
    except CodeModeError as error:
        return [Finding("sources", name, State.FAILURE, str(error), "see `codemode sources check`")]
    await loaded.transport.aclose()
    found = f"{len(loaded.tools)} tools"
    if loaded.failure is not None:
        return [
            Finding("sources", name, State.FAILURE, f"{found}; {loaded.failure.message}", "check that its server runs")
        ]
    warnings = check_surface(loaded.surface).warnings
    if warnings:
        found += f", {counted(len(warnings), 'warning')} (`codemode sources check` lists them)"
    predicted = [Finding("sources", *_worded(one)) for one in predictions(loaded, settings)]
    return [Finding("sources", name, State.OK, found), *_reads(loaded), *predicted]


def _reads(source: LoadedSource) -> Iterator[Finding]:
    """Count the writes that look like reads."""
    proposed = proposed_reads(source.tools)
    if proposed:
        found = f"{looking_like_reads(proposed)}, such as {proposed[0].tool}"
        fix = f"`codemode sources check {source.name}` proposes their effect, `--accept-reads` writes it"
        yield Finding("sources", f"{source.name} reads", State.OK, found, fix)


async def _journal(settings: Settings) -> list[Finding]:
    """Check whether an existing journal can be used by this version. Nothing is migrated."""
    if settings.journal.url is None and not (settings.state() / JOURNAL_FILE).exists():
        return []
    try:
        journal = journal_of(settings, Secrets())
        if journal is None:
            return []
        plan = await journal.migration_plan()
    except CodeModeError as error:
        return [Finding("journal", "schema", State.FAILURE, str(error), "see docs/how-to/scale.md, `A new version`")]
    found = f"version {plan.version}, readable by versions >= {plan.readable_from}"
    if not plan.steps:
        return [Finding("journal", "schema", State.OK, found)]
    lacks = f"{found}; lacks {', '.join(plan.steps)}"
    if settings.journal.migrate == "manual":
        return [Finding("journal", "schema", State.FAILURE, lacks, "run `codemode journal migrate`")]
    return [Finding("journal", "schema", State.OK, f"{lacks}, which the next server adds")]


def _folders(settings: Settings) -> Iterator[Finding]:
    """Check that the state folder and the cache folder are writable."""
    for subject, folder in (("state", settings.state()), ("cache", settings.cache())):
        nearest = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        try:
            with TemporaryFile(dir=nearest) as file:
                file.write(bytes(_LEAST_BYTES))
        except OSError as error:
            mended = "free disk space" if error.errno in _FULL else f"make {nearest} writable for uid {os.getuid()}"
            fix = f"{mended}, or set {subject}_folder"
            yield Finding("folders", subject, State.FAILURE, f"{folder} is not writable: {error.strerror}", fix)
        else:
            of = f" (project {settings.project})" if subject == "state" else ""
            yield Finding("folders", subject, State.OK, f"{folder}{of}")


def _server(settings: Settings) -> Iterator[Finding]:
    server = settings.server
    where = f"{server.host}:{server.port}"
    try:
        bind(server).close()
    except ConfigurationError as error:
        if _is_codemode(server.host, server.port):
            yield Finding("server", "port", State.OK, f"a codemode server listens on {where}")
        else:
            fix = "stop the program that listens there, or set server.port"
            yield Finding("server", "port", State.FAILURE, str(error), fix)
    else:
        yield Finding("server", "port", State.OK, f"{where} is free")
    yield _keys(settings)


def _is_codemode(host: str, port: int) -> bool:
    """Ask who listens on a port of this machine: a codemode server names itself."""
    connection = HTTPConnection("127.0.0.1" if host in ("0.0.0.0", "::", "") else host, port, timeout=_ANSWER_S)  # noqa: S104
    try:
        connection.request("GET", "/", headers={"Accept": "application/json"})
        index = json.loads(connection.getresponse().read(_ANSWER_BYTES))
        return isinstance(index, dict) and index.get("name") == "codemode"
    except (OSError, HTTPException, ValueError):
        return False
    finally:
        connection.close()


def _keys(settings: Settings) -> Finding:
    """Check which keys the server accepts."""
    server = settings.server
    try:
        with closing(store_of(settings, Secrets())) as store:
            ever = keys_of(settings, store).entries()
    except CodeModeError as error:
        return Finding("server", "keys", State.FAILURE, str(error), "make them readable, or restore them from a backup")
    made = [key for key in ever if key.status(time.time()) == "active"]
    found = [f"{len(server.keys)} in the configuration"] if server.keys else []
    found += [f"{len(made)} made with `codemode keys`"] if made else []
    found += [f"tokens of {server.tokens.issuer}"] if server.tokens else []
    fix = "create one with `codemode keys create`, or add one under server.keys"
    if found:
        return Finding("server", "keys", State.OK, ", ".join(found))
    if ever:
        return Finding("server", "keys", State.WARNING, "all revoked or expired: every request is rejected", fix)
    if is_loopback(server.host):
        summary = "none: everybody on this machine can use the server"
        return Finding("server", "keys", State.WARNING, summary, fix)
    return Finding("server", "keys", State.FAILURE, f"none, and {server.host} is reachable", fix)
