"""`codemode serve`: the HTTP application under uvicorn, on a socket bound before start-up."""

from __future__ import annotations

import asyncio
import gc
import logging
import math
import signal
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import uvicorn
from pydantic import BaseModel

from codemode.errors import CodeModeError, ConfigurationError
from codemode.executions.journal.configured import store_of
from codemode.observing.logs import written_logs
from codemode.observing.metrics import MetricsObserver
from codemode.service import CodeMode
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.http.draining import DrainingServer
from codemode.serving.http.listening import bind, is_loopback
from codemode.serving.output import terminal as show
from codemode.serving.processes.shares import share_of
from codemode.serving.processes.supervisor import supervise
from codemode.serving.web.connection import bounded
from codemode.serving.web.paths import CONSOLE
from codemode.settings import Secrets, Settings
from codemode.sources.live import RELOADED

try:
    import resource
except ImportError:  # Windows, which has no limit on open files
    resource = None  # type: ignore[assignment]

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator

    from codemode.serving.processes.server_process import ServerProcess
    from codemode.shared.values import ValueStore

log = logging.getLogger(__name__)

#: Seconds that start-up waits for sources. Slower sources are added once they have been read.
PATIENCE_S = 10.0

#: Connections waiting to be accepted. The kernel's default limit is 4,096.
BACKLOG = 2048

#: Open files requested from the system: half for client connections, the rest for programs.
OPEN_FILES = 16_384


def serve(settings: Settings, read: Callable[[], Settings], *, strict: bool = False) -> None:
    """Serve until SIGINT or SIGTERM. Raises ConfigurationError or `sandbox.SandboxError`; if strict, also SourceError.

    SIGHUP reloads sources and policy from the settings that `read` returns. If that fails, nothing changes.
    """
    store = store_of(settings, Secrets())
    callers = Callers.of(settings, store)
    if callers.is_open and not is_loopback(settings.server.host):
        message = (
            f"server.host is {settings.server.host!r}, which other machines can reach, but there is no key: create one "
            "with `codemode keys create`, configure one (keys: [{env: CODEMODE_API_KEY}]; with --source, set "
            "CODEMODE_API_KEY), or listen on 127.0.0.1"
        )
        raise ConfigurationError(message)
    with bind(settings.server) as listener:
        process = None
        if settings.server.processes > 1:
            store.close()  # a forked process connects anew
            with written_logs(settings.observe.log, in_thread=False):
                process = supervise(settings.server.processes, listener)  # returns in each of the processes
        _run(settings, read, callers, listener, store, strict=strict, process=process)


def _run(
    settings: Settings,
    read: Callable[[], Settings],
    callers: Callers,
    listener: socket.socket,
    store: ValueStore,
    *,
    strict: bool,
    process: ServerProcess | None,
) -> None:
    own = settings if process is None else share_of(settings, process.count)
    read_own = read if process is None else lambda: share_of(read(), process.count)
    if process is not None and own.observe.metrics:
        process.share_metrics()
    with written_logs(own.observe.log, server_process=0 if process is None else process.number):
        service = CodeMode.from_settings(own, strict=strict, store=store)
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_serve(service, read_own, callers, listener, process))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return uvloop's loop if the extra is installed, else None. It takes a fifth less processor time per call."""
    try:
        from uvloop import new_event_loop  # noqa: PLC0415 -- an extra
    except ImportError:
        return None
    return new_event_loop


async def _reload(service: CodeMode, read: Callable[[], Settings]) -> None:
    try:
        settings = await asyncio.to_thread(read)
        await service.reload(settings)
    except CodeModeError as error:
        log.error("reload failed, nothing changed: %s", error)
    else:
        waiting = ", ".join(_waiting_for_restart(service.settings, settings))
        if waiting:
            log.warning("reloaded, but these changes take effect after a restart only: %s", waiting)
        log.info("reloaded", extra={"sources": len(service.sources), "tools": len(service.catalog)})


def _waiting_for_restart(used: Settings, wanted: Settings) -> Iterator[str]:
    """Yield the keys that differ and that a reload does not apply."""
    for name in set(Settings.model_fields) - {*RELOADED, "mcp_servers"}:
        before, after = getattr(used, name), getattr(wanted, name)
        if before != after and type(before) is type(after) and isinstance(after, BaseModel):
            yield from (
                f"{name}.{key}" for key in type(after).model_fields if getattr(before, key) != getattr(after, key)
            )
        elif before != after:
            yield name


async def _serve(
    service: CodeMode,
    read: Callable[[], Settings],
    callers: Callers,
    listener: socket.socket,
    process: ServerProcess | None,
) -> None:
    settings = service.settings
    reloads: set[asyncio.Task[None]] = set()
    service.discovery.patience_s = None if service.strict else PATIENCE_S
    async with service:
        await service.start_sandbox()
        app = create_app(service, callers)
        if settings.keeps_journal:
            await service.executions.serve()

        def reload() -> None:
            task = asyncio.create_task(_reload(service, read))
            reloads.add(task)
            task.add_done_callback(reloads.discard)

        with suppress(AttributeError, NotImplementedError):  # Windows has no SIGHUP
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, reload)
        if process is not None:
            process.end_with_supervisor(asyncio.get_running_loop())
            metrics = service.runtime.runner.observers.find(MetricsObserver)
            if metrics is not None:
                metrics.shared = process.metrics
        config = uvicorn.Config(
            app,
            http=bounded(connections=open_files() // 2, head_s=settings.server.request_s),
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=math.ceil(settings.server.drain_s),
            lifespan="on",
            backlog=BACKLOG,
        )
        gc.collect()
        gc.freeze()  # objects loaded so far stay forever; collections skip them, which saves 0.1 s or more
        report = partial(_report, service, callers, listener, process)
        server = DrainingServer(config, app, settings.server.drain_delay_s, report)
        await server.serve(sockets=[listener])
        if settings.keeps_journal:
            await service.executions.finish(server.remaining_s(settings.server.drain_s))


def _report(service: CodeMode, callers: Callers, listener: socket.socket, process: ServerProcess | None) -> None:
    """Print the address, and what an operator should know."""
    address = listener.getsockname()
    which = "codemode" if process is None else f"process {process.number} of {process.count}"
    url = f"http://{_host(address)}:{address[1]}"
    show.errors.print(f"{which} serves {len(service.catalog)} tools on {url}")
    if service.settings.console.enabled:
        show.errors.print(f"console: {url}{CONSOLE}")
    for name, source in service.sources.items():
        if source.failure is not None:
            state = "stale (last known state)" if source.tools else "unavailable"
            warning = f"{name} is {state} and will be retried: {source.failure.message}"
            show.errors.print(show.plain(warning, style="yellow"), soft_wrap=True)
    if callers.is_open:
        show.errors.print("no key: anybody who can reach this port can use the server", style="yellow")


def open_files() -> int:
    """Raise the limit on open files as far as allowed, and return it."""
    if resource is None:
        return OPEN_FILES
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(most, OPEN_FILES) if most != resource.RLIM_INFINITY else OPEN_FILES
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    return wanted


def _host(address: tuple[str, int]) -> str:
    return f"[{address[0]}]" if ":" in address[0] else address[0]
