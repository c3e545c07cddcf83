"""Programs and waits that tests of processes share."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


SHOW_REPLY = """
import os, struct
b = json.dumps({'t': 'calls', 'calls': [[1, '1', 'tool', {}]], 'wake': None, 'delay': None}).encode()
os.write(rpc_fd, struct.pack('>I', len(b)) + b)
n = struct.unpack('>I', os.read(rpc_fd, 4))[0]
result = json.loads(os.read(rpc_fd, n))
"""


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - it is the kernel that is waited for
        await asyncio.sleep(0.005)
