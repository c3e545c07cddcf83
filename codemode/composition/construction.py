"""The ways to make a service: from a configuration, a document, an MCP server, or functions."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from codemode.catalog.loading import log_loading
from codemode.errors import WrongArgument
from codemode.settings import (
    DEFAULT_FILE,
    Settings,
    load_settings,
    settings_for_document,
    settings_for_mcp_server,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from codemode.catalog.loading import LoadingListener
    from codemode.executions.plugins.plugin import Plugin
    from codemode.settings import SecretReference
    from codemode.shared.values import ValueStore


class Construction:
    """The constructors of `codemode.service.CodeMode`."""

    def __init__(
        self,
        settings: Settings,
        functions: Mapping[str, object] | None = None,
        *,
        strict: bool = False,
        progress: LoadingListener = log_loading,
        plugins: Sequence[Plugin] = (),
        store: ValueStore | None = None,
    ) -> None:
        raise NotImplementedError

    @classmethod
    def from_config(
        cls, path: str | Path = DEFAULT_FILE, *, strict: bool = False, plugins: Sequence[Plugin] = ()
    ) -> Self:
        """Build a service from a configuration file. Raises ConfigurationError with every mistake in it."""
        return cls(load_settings(path), strict=strict, plugins=plugins)

    @classmethod
    def from_settings(
        cls,
        settings: Settings,
        *,
        functions: Mapping[str, object] | None = None,
        strict: bool = False,
        progress: LoadingListener = log_loading,
        plugins: Sequence[Plugin] = (),
        store: ValueStore | None = None,
    ) -> Self:
        """Build a service from settings, with `functions` as further sources by namespace.

        Each value of `functions` is a function, a module, a class, an object, or a list or dict of these. `store` is
        what servers share, None for that of the settings. The service closes it.
        """
        return cls(settings, functions, strict=strict, progress=progress, plugins=plugins, store=store)

    @classmethod
    def from_openapi(
        cls, location: str | Path, *, base_url: str = "", name: str = "", bearer: SecretReference | None = None
    ) -> Self:
        """Create the service for one API document, by file or URL, without a configuration file.

        `base_url` is where the operations are; `bearer` refers to a bearer token (`SecretReference(env="GYM_TOKEN")`).
        The namespace is `name`, or is derived from the location. Raises ConfigurationError.
        """
        return cls(settings_for_document(str(location), base_url=base_url, name=name, bearer=bearer))

    @classmethod
    def from_mcp(
        cls,
        server: str | Sequence[str],
        *more: object,
        name: str = "mcp",
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> Self:
        """Create the service for one MCP server: its URL, or the command that starts it (`["npx", "-y", "server"]`).

        The namespace is `name`; `headers` are sent with each request to a URL. Raises ConfigurationError.
        """
        if more:
            raise WrongArgument('pass the command as one list: CodeMode.from_mcp(["npx", "-y", "server"])')
        return cls(settings_for_mcp_server(server, name=name, headers=headers))

    @classmethod
    def from_functions(cls, *unnamed: object, **functions: object) -> Self:
        """Build a service from Python functions only: `CodeMode.from_functions(shop=[find_order, cancel_order])`."""
        if unnamed:
            raise WrongArgument("name the functions by their namespace: CodeMode.from_functions(shop=[find_order])")
        return cls(Settings(), functions)
