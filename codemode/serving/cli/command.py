"""Entry point of the `codemode` command. Handles Ctrl-C during the imports, which take half a second."""

from __future__ import annotations

import sys

from codemode import __version__


def main() -> None:
    """Run the `codemode` command."""
    try:
        if sys.argv[1:] == ["--version"]:
            sys.stdout.write(f"codemode {__version__}\n")
            return
        from codemode.serving.cli.main import main as command
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(130) from None
    command()
