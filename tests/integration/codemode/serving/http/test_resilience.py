"""`codemode serve` under what goes wrong around it: killed processes, a dead service, a full disk, and the end."""

from __future__ import annotations

import asyncio
import compileall
import fcntl
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Gym


SERVE = [str(Path(sys.executable).parent / "codemode"), "serve", "--config", "codemode.yaml", "--port", "0"]
KEY = {"Authorization": "Bearer a-key"}


def environment(folder: Path) -> dict[str, str]:
    found = {"PATH": os.environ["PATH"], "HOME": str(folder), "CODEMODE_API_KEY": "a-key"}  # noqa: TID251
    return found | {"PYTHONDONTWRITEBYTECODE": "1"}  # half a file of it, on the full disk, would be there for others


def configure(folder: Path, gym: Gym, sections: str) -> None:
    text = f"""
sources:
  gym:
    location: {gym.document}
    base_url: {gym.url}
    credentials: [{{kind: bearer, token: {{file: {gym.token_file}}}}}]
  dead:
    location: {gym.document}
    base_url: http://127.0.0.1:9
    credentials: [{{kind: bearer, token: {{file: {gym.token_file}}}}}]
state_folder: {folder}/state
cache_folder: {folder}/cache
{sections}
"""
    (folder / "codemode.yaml").write_text(text, encoding="utf-8")


@contextmanager
def serving(folder: Path, gym: Gym, *, sections: str = "", file_bytes: int | None = None) -> Iterator[tuple[str, int]]:
    """A server in a process of its own: its address, and its process id. It may write so many bytes to any file."""
    configure(folder, gym, sections)
    log = folder / "log"

    def limited() -> None:
        if file_bytes is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond it fails, as on a full disk
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))

    with (
        log.open("w") as errors,
        subprocess.Popen(SERVE, cwd=folder, env=environment(folder), stderr=errors, preexec_fn=limited) as process,
    ):
        try:
            yield _address(log, process), process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


def _address(log: Path, process: subprocess.Popen[bytes]) -> str:
    while True:
        text = log.read_text(encoding="utf-8")
        if "http://127.0.0.1:" in text:
            return "http://127.0.0.1:" + text.partition("http://127.0.0.1:")[2].split()[0]
        assert process.poll() is None, text
        time.sleep(0.02)


#: A file takes so many bytes on the full disk: the line with the address, and little else.
FULL_BYTES = 2_000
KEYS = "server: {keys: [{env: CODEMODE_API_KEY}]}"


def client(url: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(base_url=url, headers=KEY, timeout=200)


async def run(http: httpx2.AsyncClient, code: str) -> dict[str, Any]:
    answer = await http.post("/v1/execute", json={"code": code})
    while answer.status_code == 429:  # as a client that does as it is told
        await asyncio.sleep(float(answer.headers["retry-after"]))
        answer = await http.post("/v1/execute", json={"code": code})
    assert answer.status_code == 200, answer.text
    outcome: dict[str, Any] = answer.json()
    return outcome


async def begun(http: httpx2.AsyncClient, code: str) -> str:
    """Begin a program, and wait until it runs: the address of its execution."""
    answer = await http.post("/v1/execute", json={"code": f"gym.core.get_gym_info()\n{code}", "wait_s": 0})
    assert answer.status_code == 202, answer.text
    place = answer.headers["location"]
    async with http.stream("GET", f"{place}/events") as events:
        async for line in events.aiter_lines():
            if "call_ended" in line:
                break
    return place


def descendants(process: int) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        if parent == process:
            found += [int(folder.name), *descendants(int(folder.name))]
    return found


async def test_killed_workers_end_their_programs_and_no_other(tmp_path: Path, gym: Gym) -> None:
    with serving(tmp_path, gym, sections=KEYS) as (url, process):
        async with client(url) as http:
            assert (await run(http, "1 + 1"))["value"] == 2
            for _ in range(3):
                place = await begun(http, "import time\ntime.sleep(20)")
                load = [asyncio.create_task(run(http, "import time\ntime.sleep(0.5)\n'ended'")) for _ in range(5)]
                await asyncio.sleep(0.2)  # some run, some wait, as it comes
                for number in descendants(process):
                    try:
                        os.kill(number, signal.SIGKILL)  # the fork server too
                    except ProcessLookupError:
                        continue
                statuses = {outcome["status"] for outcome in await asyncio.gather(*load)}
                assert statuses <= {"crashed", "completed"}
                while (status := (await http.get(place)).json()["status"]) == "running":  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
                assert status == "crashed"
                assert (await run(http, "gym.core.get_gym_info()['name'] and 2"))["value"] == 2
            assert (await http.get("/readyz")).status_code == 200


async def test_a_dead_service_is_said_and_the_others_are_served(tmp_path: Path, gym: Gym) -> None:
    with serving(tmp_path, gym, sections=KEYS) as (url, _):
        async with client(url) as http:
            dead, alive = await asyncio.gather(
                run(http, "dead.core.get_gym_info()"), run(http, "gym.core.get_gym_info()['name'] and 2")
            )
            assert (dead["status"], dead["calls"][0]["state"]) == ("failed", "not started")
            assert "cannot be reached" in dead["failure"]["message"]
            assert alive["value"] == 2
            assert (await http.get("/readyz")).status_code == 200


async def test_a_full_disk_leaves_the_service_serving(tmp_path: Path, gym: Gym) -> None:
    for package in ("codemode", "sandbox"):  # under the limit, Python would write half a module, and keep it
        compileall.compile_dir(Path(__file__).parents[5] / package, quiet=1)
    with serving(tmp_path, gym, sections=KEYS, file_bytes=FULL_BYTES) as (url, _):
        async with client(url) as http:
            for number in range(30):
                assert (await run(http, f"gym.core.get_gym_info()['name'] and {number}"))["value"] == number
                answer = await http.post("/v1/search", json={"queries": ["freeze a membership"]})
                assert answer.json()["hits"][0]["id"].endswith("freeze_membership")
            assert (await http.get("/readyz")).status_code == 200
    assert (tmp_path / "log").stat().st_size == FULL_BYTES  # nothing more could be written, not even that
    for folder in ("state", "cache"):
        assert all(file.stat().st_size <= FULL_BYTES for file in (tmp_path / folder).rglob("*") if file.is_file())


def write(number: int) -> str:
    return f"gym.notes.create_member_note(clientId=1, text='note {number}')['id'] > 0"


async def test_what_cannot_be_recorded_only_reads_until_there_is_room_again(tmp_path: Path, gym: Gym) -> None:
    with serving(tmp_path, gym, sections=KEYS) as (url, process):
        async with client(url) as http:
            before = resource.prlimit(process, resource.RLIMIT_FSIZE)
            assert (await run(http, write(1)))["status"] == "completed"
            resource.prlimit(process, resource.RLIMIT_FSIZE, (FULL_BYTES, before[1]))
            read = await run(http, "gym.core.get_gym_info()['name'] and 1")
            assert (read["value"], any("was not recorded" in note for note in read["notes"])) == (1, True)
            changing = await run(http, write(2))
            assert (changing["status"], changing["calls"][0]["state"]) == ("failed", "failed")
            assert "nothing was sent" in changing["failure"]["message"]
            kept = await http.post("/v1/execute", json={"code": "1", "wait_s": 5})
            assert (kept.status_code, kept.json()["code"]) == (503, "journal_unavailable")
            assert (int(kept.headers["retry-after"]) > 0, str(tmp_path) in kept.text) == (True, False)
            assert "not writable" in (await http.get("/readyz")).json()["journal"]
            resource.prlimit(process, resource.RLIMIT_FSIZE, before)
            again = await run(http, write(3))
            assert (again["status"], again["notes"]) == ("completed", [])
            assert (await http.get(f"/v1/executions/{again['id']}")).status_code == 200


async def test_a_log_that_nobody_reads_holds_nobody_up(tmp_path: Path, gym: Gym) -> None:
    configure(tmp_path, gym, KEYS)
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    process = await asyncio.create_subprocess_exec(*SERVE, cwd=tmp_path, env=environment(tmp_path), stderr=writing)
    try:
        os.close(writing)
        said = b""
        while b" on http://127.0.0.1:" not in said or not said.endswith(b"\n"):
            byte = await asyncio.to_thread(os.read, reading, 1)
            assert len(byte) == 1, said.decode()
            said += byte
        async with client(f"http://127.0.0.1:{int(said.split(b':')[-1])}") as http:
            for number in range(60):  # some 200 bytes of log for each
                assert (await run(http, str(number)))["value"] == number
    finally:
        process.send_signal(signal.SIGTERM)
        await process.wait()
        os.close(reading)


async def test_a_server_that_is_told_to_stop_ends_what_it_runs_and_takes_nothing_new(tmp_path: Path, gym: Gym) -> None:
    with serving(tmp_path, gym, sections=KEYS) as (url, process):
        async with client(url) as http:
            assert (await run(http, "1"))["value"] == 1
            slow = asyncio.create_task(run(http, "import time\ntime.sleep(1.5)\n'ended'"))
            await under_way(http)
            os.kill(process, signal.SIGTERM)
            assert (await slow)["value"] == "ended"
            port = int(url.rpartition(":")[2])
            with pytest.raises(OSError, match="refused"), socket.create_connection(("127.0.0.1", port), timeout=5):
                pass
        await until_gone(process)


async def test_draining_has_an_end(tmp_path: Path, gym: Gym) -> None:
    sections = "server: {keys: [{env: CODEMODE_API_KEY}], drain_s: 1}"
    with serving(tmp_path, gym, sections=sections) as (url, process):
        async with client(url) as http:
            assert (await run(http, "1"))["value"] == 1
            slow = asyncio.create_task(run(http, "import time\ntime.sleep(25)"))
            await under_way(http)
            children = descendants(process)
            assert children
            os.kill(process, signal.SIGTERM)
            with pytest.raises((httpx2.HTTPError, AssertionError)):  # not the end of the program
                await slow
            await until_gone(process, *children)


async def under_way(http: httpx2.AsyncClient) -> None:
    """Wait until a request that was sent has become an execution."""
    while not (await http.get("/v1/executions", params={"status": "running"})).json()["executions"]:  # noqa: ASYNC110
        await asyncio.sleep(0.02)


async def until_gone(*processes: int) -> None:
    """Wait until these have ended: none of them is ours, so that there is nothing but to look."""
    while not all(map(_is_zombie, processes)):  # noqa: ASYNC110
        await asyncio.sleep(0.05)


def _is_zombie(process: int) -> bool:
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return True
    return text.rpartition(")")[2].split()[0] == "Z"


def resident_bytes(pid: int) -> int:
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


async def test_answers_that_nobody_reads_take_little_memory_and_delay_nobody(tmp_path: Path, gym: Gym) -> None:
    size = 8 << 20
    with serving(tmp_path, gym, sections=KEYS) as (url, pid):
        async with httpx2.AsyncClient(base_url=url, headers=KEY, timeout=200) as client:
            made = await client.post("/v1/execute", json={"code": f"'x' * {size}"})
            path = f"/v1/executions/{made.json()['id']}"
            assert len((await client.get(path)).content) > size
            before = resident_bytes(pid)
            host, _, port = url.removeprefix("http://").partition(":")
            unread = []
            for _ in range(40):
                one = socket.socket()
                one.settimeout(60)
                one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                one.connect((host, int(port)))
                one.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer a-key\r\n\r\n".encode())
                unread.append(one)
            try:
                assert [(await client.get("/livez")).status_code for _ in range(20)] == [200] * 20
                assert resident_bytes(pid) - before < 10 * size  # four answers of a key, not forty
                statuses = [await asyncio.to_thread(one.recv, 12) for one in unread]
                assert statuses.count(b"HTTP/1.1 429") >= 20
            finally:
                for one in unread:
                    one.close()
