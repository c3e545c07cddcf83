"""`python -m codemode`: the `codemode` command."""

from __future__ import annotations

from codemode.serving.cli.command import main

if __name__ == "__main__":
    main()
