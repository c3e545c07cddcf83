"""What an escape would read, touch or reach, and how one sees that it did."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

#: Read from this process's memory, or from its environment: an escape.
HOST_SECRET = "MEM" + secrets.token_hex(8)
CREDENTIAL = "CRD" + secrets.token_hex(8)
ENVIRONMENT_SECRET = os.environ.setdefault("CANARY_ENV", "ENV" + secrets.token_hex(8))
sys.modules["__main__"].HOST_SECRET = HOST_SECRET

_MARK_1, _MARK_2 = "mark-" + secrets.token_hex(4), "-" + secrets.token_hex(4)
MARKER = _MARK_1 + _MARK_2
_SECRET_SHAPE = re.compile("(?:MEM|ENV|FIL|CRD)[0-9a-f]{16}")


class Canaries:
    """One set for one attempt. `found(texts)` says what happened to them."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="canaries-"))
        self.folder.chmod(0o777)
        self.secret_file = self.folder / "secret"
        self.file_secret = "FIL" + secrets.token_hex(8)
        self.secret_file.write_text(self.file_secret)
        self.secret_file.chmod(0o644)
        self.write_file = self.folder / "written"
        self.write_file.write_text("untouched")
        self.write_file.chmod(0o666)
        self.tcp, self.udp, self.port = _listeners()
        self.abstract = "canary-" + secrets.token_hex(6)
        self.unix = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.unix.bind("\0" + self.abstract)
        self.unix.listen()
        for listener in (self.tcp, self.udp, self.unix):
            listener.setblocking(False)
        self.before = self._files()
        self.victim = subprocess.Popen(["sleep", "300"], start_new_session=True)

    def fill(self, code, host_process):
        """Put these canaries in the place of the placeholders."""
        places = {
            "@SECRET_FILE@": str(self.secret_file),
            "@WRITE_FILE@": str(self.write_file),
            "@DIR@": str(self.folder),
            "@PORT@": str(self.port),
            "@ABSTRACT@": self.abstract,
            "@VICTIM@": str(self.victim.pid),
            "@HOST_PID@": str(host_process),
            "@M1@": _MARK_1,
            "@M2@": _MARK_2,
        }
        for name, value in places.items():
            code = code.replace(name, value)
        return code

    def found(self, texts):
        """Name everything that was read, touched or reached; `texts` is all that came out of the attempt."""
        everything = "\n".join(texts)
        signs = [f"secret {secret[:3]}" for secret in sorted(set(_SECRET_SHAPE.findall(everything)))]
        if MARKER in everything:
            signs.append("marker")
        signs += self._changes()
        signs += [f"{name} reached" for name in ("tcp", "udp", "unix") if self._was_reached(getattr(self, name))]
        state = _process_state(self.victim.pid)
        if self.victim.poll() is not None or state in "TtZX":
            signs.append("victim hit")
        return signs

    def _files(self):
        """What there is in the folder, and of which kind: content, mode, owner."""
        try:
            paths = [self.folder, *self.folder.rglob("*")]
            return {str(path.relative_to(self.folder)): _look(path) for path in paths}
        except OSError:
            return {}

    def _changes(self):
        after = self._files()
        for path, look in self.before.items():
            if path not in after:
                yield f"{'folder' if path == '.' else 'file'} deleted"
            elif after[path] != look:
                yield "file written" if path == "written" else f"{path} changed"
        if after.keys() - self.before.keys():
            yield "file made"

    def close(self):
        """Release everything."""
        self.victim.kill()
        self.victim.wait()
        for listener in (self.tcp, self.udp, self.unix):
            listener.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def _was_reached(listener):
        try:
            if listener.type == socket.SOCK_DGRAM:
                listener.recvfrom(1)
            else:
                listener.accept()[0].close()
        except BlockingIOError:
            return False
        return True


def _listeners():
    """TCP and UDP on the same port of the loopback interface."""
    while True:
        tcp = socket.socket()
        tcp.bind(("127.0.0.1", 0))
        port = tcp.getsockname()[1]
        udp = socket.socket(type=socket.SOCK_DGRAM)
        try:
            udp.bind(("127.0.0.1", port))
        except OSError:
            tcp.close()
            udp.close()
            continue
        tcp.listen()
        return tcp, udp, port


def _look(path):
    """A file as it is, where it can still be looked at."""
    try:
        seen = path.lstat()
        content = path.read_bytes()[:10_000] if path.is_file() else b""
    except OSError as error:
        return (error.errno,)
    return (seen.st_mode, seen.st_uid, seen.st_gid, os.listxattr(path, follow_symlinks=False), content)


def _process_state(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"
