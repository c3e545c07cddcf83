"""codemode on Ray Serve: `serve run codemode.serving.ray:app config=codemode.yaml` (extra `ray`).

Each replica is a whole server with its own event loop, fork server and workers. Replicas share the PostgreSQL journal.
Ray places, restarts and scales them, and routes requests to them. A program runs in a worker that its replica forks,
not in a Ray task: a fork is a hundred times cheaper than a new process of Ray, and only the fork is behind the walls
of the sandbox.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack, closing
from typing import TYPE_CHECKING, Any

from click import ClickException
from pydantic import Field, ValidationError
from ray import serve

from codemode.errors import ConfigurationError, JournalUnavailable
from codemode.executions.journal.configured import store_of
from codemode.observing.logs import written_logs
from codemode.service import CodeMode
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.http.health import reason_not_ready
from codemode.serving.http.open_requests import OpenRequests
from codemode.settings import Secrets, default_configuration, load_settings
from codemode.settings.section import Section
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import FastAPI
    from pydantic_core import ErrorDetails
    from ray.serve import Application
    from ray.serve.config import AutoscalingContext

    from codemode.settings import Settings
    from codemode.shared.values import ValueStore

#: Seconds, beyond `server.drain_s`, for a replica to answer open requests, release executions and close connections.
CLOSING_S = 15.0

#: Attempts to start a replica before Ray marks the deployment as failed. Most failures are mistakes that stay.
START_ATTEMPTS = 3

#: Seconds between health checks. Ray replaces a replica that died at the next one.
HEALTH_CHECK_S = 2.0

#: Least time without a health check, in seconds, after which a replica takes itself for stopped.
QUIET_S = 5 * HEALTH_CHECK_S

#: Name of the custom metric by which the deployment scales.
METRIC = "executions"

_NO_POSTGRES = (
    "Ray Serve needs a journal in PostgreSQL, because replicas on several machines cannot share a SQLite file: set "
    "`journal: {url: {env: JOURNAL_URL}, key: {env: JOURNAL_KEY}}` in the configuration, with the same values for all "
    "replicas, and install codemode[ray]"
)
_NO_KEY = (
    "Ray Serve needs a key, because anybody who can reach the proxy could use the server: create one with "
    "`codemode keys create`, or configure one (server: {keys: [{env: CODEMODE_API_KEY}]})"
)


class StartRefused(ConfigurationError, ClickException):
    """The application cannot start. `serve run` prints the message alone, and exits with this code."""

    exit_code = 2


class Arguments(Section):
    """Arguments of `app`, in `args` of a Serve configuration or after the name in `serve run`."""

    config: str = Field(default="", description="The configuration file, at this path on every node.")
    min_replicas: int = Field(default=1, ge=1, description="Minimum number of replicas.")
    max_replicas: int = Field(default=8, ge=1, description="Maximum number of replicas.")
    check: bool = Field(default=True, description="Check secrets, keys and database where the application is built.")


def app(arguments: Mapping[str, Any]) -> Application:
    """Build the Serve application. `arguments` are those of `Arguments`.

    The configuration is the file `config`, else `CODEMODE_CONFIG`, else `codemode.yaml`. Limits and timeouts of the
    deployment follow from its `server` section, and a Serve configuration can override them. Raises StartRefused for
    what would keep every replica from starting, because Ray shows a replica's error in a traceback for each attempt.
    """
    try:
        given = Arguments.model_validate(arguments)
        path = given.config or default_configuration()
        settings = _load(path)
        if given.check:
            _check(settings)
    except ValidationError as error:
        message = f"arguments of codemode.serving.ray:app: {'; '.join(map(_worded, error.errors()))}"
        raise StartRefused(message) from None
    except (ConfigurationError, JournalUnavailable) as error:
        raise StartRefused(str(error)) from None
    load = settings.server.load
    deployment = serve.deployment(
        serve.ingress()(Replica),
        name="codemode",
        ray_actor_options={"num_cpus": 1},
        max_ongoing_requests=load.running + load.waiting,
        max_queued_requests=max(1, load.waiting),
        backpressure_config={"status_code": 429, "retry_after_s": 1},
        autoscaling_config={
            "min_replicas": given.min_replicas,
            "max_replicas": given.max_replicas,
            "target_ongoing_requests": max(1, load.running // 2),
            "policy": {"policy_function": f"{__name__}:replicas_for"},
        },
        graceful_shutdown_timeout_s=_drain_s(settings) + CLOSING_S,
        health_check_period_s=HEALTH_CHECK_S,
        max_constructor_retry_count=START_ATTEMPTS,
    )
    application: Application = deployment.bind(path)
    return application


def replicas_for(context: AutoscalingContext) -> tuple[float, dict[str, Any]]:
    """Return the number of replicas for the executions under way, and no state. Ray applies delays and bounds.

    Executions count if they run or wait in any replica, or as requests that Ray has not yet assigned. Long-lived event
    streams do not count. The target per replica is `target_ongoing_requests` of the autoscaling configuration.
    """
    by_replica = (context.aggregated_metrics or {}).get(METRIC, {})
    under_way = sum(by_replica.values()) + (context.total_queued_requests or 0)
    return under_way / context.config.get_target_ongoing_requests(), {}


class Replica:
    """A server in a replica. `serve.ingress` makes it answer HTTP requests."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._opened = AsyncExitStack()
        self._requests = OpenRequests()
        self._checked = 0.0
        self._draining: asyncio.Task[None] | None = None

    async def __serve_build_asgi_app__(self) -> FastAPI:
        """Open the service and return its application, before Ray routes requests here.

        Ray shows an error in the status of the deployment. Raises ConfigurationError, also if there is no key: the
        proxy can be reached from elsewhere, and the host name in a request is what its client says. Raises
        `sandbox.SandboxError` if walls that the settings require do not hold on this node.
        """
        settings = _of_replica(_load(self._path))
        async with AsyncExitStack() as opened:
            opened.enter_context(written_logs(settings.observe.log))
            self._service = CodeMode.from_settings(settings)
            opened.callback(self._service.store.close)
            callers = await asyncio.to_thread(_callers, settings, self._service.store)
            await opened.enter_async_context(self._service)
            await self._service.start_sandbox()
            self._app = create_app(self._service, callers)
            self._app.add_middleware(self._requests.wrap)
            await self._service.executions.serve()
            self._opened = opened.pop_all()
        self._draining = asyncio.create_task(self._drain(_drain_s(settings)))
        return self._app

    async def _drain(self, drain_s: float) -> None:
        """End requests that outlast `drain_s` once Ray checks the health no more, which is all it says about a stop.

        Ray waits for open requests before it closes a replica, and kills the replica if they take too long. While
        Ray's controller is down there are no checks either, so each request gets `drain_s` then.
        """
        loop = asyncio.get_running_loop()
        self._checked = loop.time()
        while True:
            await asyncio.sleep(HEALTH_CHECK_S / 2)
            if loop.time() - self._checked > drain_s:
                self._requests.end(loop.time() - drain_s)

    async def check_health(self) -> None:
        """Raise RuntimeError if `/readyz` would answer 503. Ray then replaces the replica.

        An unreachable journal or source is no reason: a new replica would not reach it either.
        """
        self._checked = asyncio.get_running_loop().time()
        reason = reason_not_ready(self._app, self._service)
        if reason:
            raise RuntimeError(reason)

    def record_autoscaling_stats(self) -> dict[str, int]:
        """Return the number of executions that run or wait here."""
        admission = self._app.state.admission
        return {METRIC: admission.running + admission.waiting}

    async def __del__(self) -> None:
        """Release running executions to other replicas, and close the service. Ray waits for this after it drained."""
        if self._draining is not None:
            self._draining.cancel()
        await self._opened.aclose()


def _worded(mistake: ErrorDetails) -> str:
    name = ".".join(map(str, mistake["loc"])) or "arguments"
    if mistake["type"] != "extra_forbidden":
        return f"{name}: {mistake['msg']}"
    valid = ", ".join(Arguments.model_fields)
    return f"unknown argument {name!r}{did_you_mean(name, Arguments.model_fields) or ';'} valid: {valid}"


def _load(path: str) -> Settings:
    settings = load_settings(path)
    if settings.journal.url is None or not settings.keeps_journal:
        raise ConfigurationError(_NO_POSTGRES)
    return settings


def _callers(settings: Settings, store: ValueStore) -> Callers:
    """Return the callers. May wait for the database. Raises ConfigurationError, JournalUnavailable."""
    callers = Callers.of(settings, store)
    if callers.is_open:
        raise ConfigurationError(_NO_KEY)
    return callers


def _check(settings: Settings) -> None:
    """Raise ConfigurationError or JournalUnavailable if no replica could start with these settings."""
    with closing(store_of(settings, Secrets())) as store:
        _callers(settings, store)


def _drain_s(settings: Settings) -> float:
    return max(settings.server.drain_s, QUIET_S)


def _of_replica(settings: Settings) -> Settings:
    """Return the settings of one of many replicas, which has one processor."""
    server = settings.server.model_copy(update={"processes": os.cpu_count() or 1})
    return settings.model_copy(update={"server": server})
