"""First file of the fork server: `python -P -s -S start.py CONTROL PROGRAM FOLDER…`.

The interpreter starts without `site`, environment or the current folder on its path, so the folders that hold this
package, RestrictedPython and greenlet come as arguments. They go behind the standard library: nothing shadows it.
"""

from __future__ import annotations

import sys
from importlib import import_module

sys.path += sys.argv[3:]
import_module("sandbox.guest.fork_server").main(int(sys.argv[1]), sys.argv[2])
