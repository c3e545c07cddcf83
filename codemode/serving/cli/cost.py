"""`codemode cost`: the tokens of a catalog in each mode, as a table, a picture or bars."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 -- typer reads it at run time
from typing import TYPE_CHECKING, Annotated

import typer

from codemode.errors import ConfigurationError
from codemode.serving.cli.project_options import AsJson, ProjectOptions, with_project_options, with_service
from codemode.serving.output import terminal as show
from codemode.serving.output.exit_codes import errors_as_exit_codes

if TYPE_CHECKING:
    from codemode.catalog.cost import CostReport
    from codemode.service import CodeMode

app = typer.Typer()

#: Columns of the longest bar.
_BAR = 40


@app.command()
@with_project_options
def cost(
    project: ProjectOptions,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE.svg", help="Plot the tokens against the number of tools. - shows bars here."),
    ] = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Show what the catalog costs a model in tokens: as native tools, all or deferred, as a menu, and as two tools."""

    async def work(service: CodeMode) -> int:
        report = service.discovery.cost()
        shows_bars = plot is not None and str(plot) == "-"
        if as_json:
            show.print_json(report.to_json())
        elif shows_bars:
            _print_bars(report)
        else:
            show.console.print(show.cost(report))
        if plot is not None and not shows_bars:
            _write_plot(service, report, plot)
        return 0

    with errors_as_exit_codes(as_json=as_json):
        _require_svg(plot)
    with_service(project, work, needs_search=False, as_json=as_json)


def _require_svg(plot: Path | None) -> None:
    if plot is not None and str(plot) != "-" and plot.suffix.lower() != ".svg":
        message = f"--plot: {plot} is not an SVG file: end its name with .svg, or write - for bars"
        raise ConfigurationError(message)


def _write_plot(service: CodeMode, report: CostReport, file: Path) -> None:
    from codemode.catalog.cost_curve import cost_curve
    from codemode.catalog.tokens import local_tokenizer
    from codemode.serving.cost_plot import cost_svg
    from codemode.settings import tokenizer_folder

    picture = cost_svg(cost_curve(service.catalog, report, local_tokenizer(tokenizer_folder())))
    try:
        file.write_text(picture, encoding="utf-8")
    except OSError as error:
        message = f"--plot: cannot write {file}: {error.strerror}"
        raise ConfigurationError(message) from None
    show.errors.print(show.plain(f"{file} written"), soft_wrap=True)


def _print_bars(report: CostReport) -> None:
    """Print one bar for each mode."""
    most = max((mode.tokens for mode in report.modes), default=0) or 1
    names = max(len(mode.name) for mode in report.modes)
    for mode, style in zip(report.modes, ("red", "magenta", "yellow", "green"), strict=True):
        bar = "█" * max(1, round(mode.tokens / most * _BAR))
        line = show.plain(f"{mode.name:<{names}}  ") + show.plain(bar, style=style) + show.plain(f" {mode.tokens:,}")
        show.console.print(line, soft_wrap=True)
    show.console.print(show.plain(f"tokens of {report.tools:,} tools, counted {report.method}", style="dim"))
