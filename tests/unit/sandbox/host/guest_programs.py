"""What hostile guests run."""

from __future__ import annotations

SAY = "import os, struct\ndef say(text): os.write(rpc_fd, struct.pack('>I', len(text)) + text.encode())\n"


SLEEP = "import time\ntime.sleep(100)"
