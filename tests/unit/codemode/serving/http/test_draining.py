"""A server that is told to stop: what it still does, and when it ends."""

from __future__ import annotations

import asyncio
import signal
import socket

import pytest
import uvicorn
from fastapi import FastAPI
from fastapi.testclient import TestClient

from codemode.executions.life.recovery import NoRoomYet
from codemode.serving.http.draining import ClosingWhenDraining, DrainingServer, turn_unless_draining
from codemode.serving.web.admission import Admission
from codemode.settings.server import LoadSettings

FOREVER_S = 1e6


@pytest.fixture
def app() -> FastAPI:
    made = FastAPI()
    made.state.is_draining = False
    made.add_middleware(ClosingWhenDraining)

    @made.get("/")
    async def answer() -> str:
        return "here"

    return made


def server(app: FastAPI, delay_s: float) -> DrainingServer:
    return DrainingServer(uvicorn.Config(app, lifespan="off"), app, delay_s, lambda: None)


async def test_it_reports_its_start_once_it_listens_and_handles_signals(app: FastAPI) -> None:
    reported: list[str] = []

    def report() -> None:
        with socket.create_connection(listener.getsockname()):
            reported.append("start")
        signal.raise_signal(signal.SIGTERM)

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        before = signal.getsignal(signal.SIGTERM)
        one = DrainingServer(uvicorn.Config(app, lifespan="off"), app, 0, report)
        await asyncio.wait_for(one.serve(sockets=[listener]), 30)
    assert reported == ["start"]
    assert app.state.is_draining
    assert signal.getsignal(signal.SIGTERM) == before


async def test_without_a_delay_the_first_signal_stops_it(app: FastAPI) -> None:
    one = server(app, 0)
    one.handle_exit(signal.SIGTERM, None)
    assert (app.state.is_draining, one.should_exit, one.force_exit) == (True, True, False)


async def test_it_keeps_its_port_open_for_the_delay(app: FastAPI) -> None:
    one = server(app, FOREVER_S)
    one.handle_exit(signal.SIGTERM, None)
    assert app.state.is_draining
    assert not await one.on_tick(1)
    short = server(FastAPI(), 1e-9)
    short._state.is_draining = False
    short.handle_exit(signal.SIGTERM, None)
    assert await short.on_tick(1)


async def test_a_second_sigint_cuts_the_delay_and_the_requests_off(app: FastAPI) -> None:
    one = server(app, FOREVER_S)
    one.handle_exit(signal.SIGINT, None)
    one.handle_exit(signal.SIGTERM, None)
    assert (one.should_exit, one.force_exit) == (False, False)
    one.handle_exit(signal.SIGINT, None)
    assert (one.should_exit, one.force_exit) == (True, True)
    assert one.remaining_s(FOREVER_S) == 0


async def test_executions_get_the_time_that_requests_have_left(app: FastAPI) -> None:
    one = server(app, 0)
    one.config.load()
    one.servers, one.lifespan = [], one.config.lifespan_class(one.config)
    assert one.remaining_s(FOREVER_S) == FOREVER_S
    await one.shutdown()
    assert FOREVER_S > one.remaining_s(FOREVER_S) > 0
    assert one.remaining_s(0) == 0


def test_answers_close_their_connection_while_it_drains(app: FastAPI) -> None:
    with TestClient(app) as http:
        assert "connection" not in http.get("/").headers
        app.state.is_draining = True
        assert http.get("/").headers["connection"] == "close"


async def test_orphans_are_left_to_other_servers_while_it_drains(app: FastAPI) -> None:
    admission = Admission(LoadSettings(), processors=1)
    async with turn_unless_draining(app, admission, "ann"):
        assert admission.running == 1
    app.state.is_draining = True
    with pytest.raises(NoRoomYet, match="the server is stopping"):
        async with turn_unless_draining(app, admission, "ann"):
            pass
