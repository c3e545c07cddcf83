"""First file of the fork server: `python -P -s -S start.py CONTROL PROGRAM FOLDER…`.

The interpreter starts without `site`, environment or the current folder on its path, so the folders that hold this
package, RestrictedPython and greenlet come as arguments. They go behind the standard library: nothing shadows it.
"""

from __future__ import annotations

import sys
from importlib import import_module

#: Libraries that the standard library loads where it finds them, and that no program here can use: TLS and two
#: compressors. Each is a megabyte to share, a dozen mappings to copy at each fork, and code that need not be there.
_ABSENT = ("_ssl", "_bz2", "_lzma")

sys.modules.update(dict.fromkeys(_ABSENT))  # type: ignore[arg-type]  # None: "there is no such module"
sys.path += sys.argv[3:]
import_module("sandbox.guest.fork_server").main(int(sys.argv[1]), sys.argv[2])
