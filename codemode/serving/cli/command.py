"""Where the `codemode` command begins: what it is made of takes half a second to load, in which Ctrl-C may come."""

from __future__ import annotations

import sys

from codemode import __version__


def main() -> None:
    """Entry point of the `codemode` command."""
    try:
        if sys.argv[1:] == ["--version"]:
            sys.stdout.write(f"codemode {__version__}\n")
            return
        from codemode.serving.cli.main import main as command
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(130) from None
    command()
