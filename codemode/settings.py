"""`codemode.yaml` and the environment: the only module that reads either.

A configuration is read whole, checked whole, and refused with every mistake in it at once: line, key, what was
expected, and the nearest valid key. Secrets are references (`{env: NAME}` or `{file: PATH}`), resolved when a source is
loaded, and never printed.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator
from rapidfuzz import fuzz, process

from codemode.errors import ConfigurationError

#: Where `CodeMode.from_config` and the command line look when no file is named.
DEFAULT_FILE = "codemode.yaml"

#: The server's key where no configuration file names one.
API_KEY_VARIABLE = "CODEMODE_API_KEY"

#: File names that say what a document is and not what it is about.
_GENERIC_NAMES = {"openapi", "swagger", "api", "spec", "index", "schema", "v1", "v2", "v3", "docs"}

_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SecretReference(_Section):
    """Where a secret is kept: an environment variable or a file (its text, stripped)."""

    env: str | None = None
    file: Path | None = None

    @model_validator(mode="after")
    def _one_place(self) -> SecretReference:
        if (self.env is None) == (self.file is None):
            message = "give either env: NAME or file: PATH"
            raise ValueError(message)
        return self

    def resolve(self) -> SecretStr:
        """The secret. Raises ConfigurationError where it is not there or empty."""
        if self.env is not None:
            value = os.environ.get(self.env, "")
            where = f"the environment variable {self.env}"
        else:
            where = f"the file {self.file}"
            try:
                value = Path(self.file or "").expanduser().read_text(encoding="utf-8").strip()
            except OSError as error:
                message = f"a secret is read from {where}: {error.strerror}"
                raise ConfigurationError(message) from None
        if not value:
            message = f"a secret is read from {where}, which is empty or not set"
            raise ConfigurationError(message)
        return SecretStr(value)


class BearerCredential(_Section):
    """`Authorization: Bearer …` (RFC 6750)."""

    kind: Literal["bearer"]
    token: SecretReference


class BasicCredential(_Section):
    """`Authorization: Basic …` (RFC 7617)."""

    kind: Literal["basic"]
    username: str
    password: SecretReference


class ApiKeyCredential(_Section):
    """An API key in a header, a query parameter or a cookie (OpenAPI 3.1, Security Scheme Object `apiKey`)."""

    kind: Literal["api_key"]
    name: str
    value: SecretReference
    location: Literal["header", "query", "cookie"] = "header"
    prefix: str = ""


class OAuth2Credential(_Section):
    """Tokens by client credentials (RFC 6749, section 4.4), or with a `refresh_token` by that (section 6)."""

    kind: Literal["oauth2"]
    token_url: str
    client_id: str
    client_secret: SecretReference | None = None
    refresh_token: SecretReference | None = None
    scopes: tuple[str, ...] = ()
    audience: str = ""
    secret_in_body: bool = False


CredentialSettings = Annotated[
    BearerCredential | BasicCredential | ApiKeyCredential | OAuth2Credential, Field(discriminator="kind")
]
EffectName = Literal["read", "write", "destructive"]


class ClientCertificate(_Section):
    """A certificate and its key, PEM files, for mutual TLS (RFC 8446, section 4.4.2)."""

    certificate: Path
    key: Path


class SourceSettings(_Section):
    """One API surface. `location` is a file (relative to the configuration file) or a URL."""

    location: str
    kind: Literal["auto", "openapi"] = "auto"
    base_url: str | None = None
    credentials: tuple[CredentialSettings, ...] = ()
    client_certificate: ClientCertificate | None = None
    ca_file: Path | None = None
    timeout_s: float = Field(default=30.0, gt=0, le=3600)
    response_limit_bytes: int = Field(default=16 * 1024 * 1024, ge=1024)
    retries: int = Field(default=2, ge=0, le=10)
    concurrency: int = Field(default=32, ge=1)
    rate_per_s: float | None = Field(default=None, gt=0)
    keep_names: bool = True
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    rename: dict[str, str] = {}
    describe: dict[str, str] = {}
    effect: dict[str, EffectName] = {}
    examples: dict[str, tuple[str, ...]] = {}

    @field_validator("location")
    @classmethod
    def _file_or_http(cls, location: str) -> str:
        if "://" in location and not is_url(location):
            message = "give a file, or an address that begins with http:// or https://"
            raise ValueError(message)
        return location


class LimitSettings(_Section):
    """Budgets of one execution; see `sandbox.Limits` for the meaning and reason of each default."""

    wall_s: float = Field(default=30.0, gt=0, le=3600)
    cpu_s: int = Field(default=10, ge=1)
    memory_mib: int = Field(default=256, ge=32)
    output_bytes: int = Field(default=256 * 1024, ge=1024)
    result_bytes: int = Field(default=16 * 1024 * 1024, ge=1024)
    source_bytes: int = Field(default=100_000, ge=1000)
    calls: int = Field(default=1_000, ge=0)
    calls_in_flight: int = Field(default=64, ge=1)


class SandboxSettings(_Section):
    """Processes that run programs, and the layers of isolation without which none runs."""

    workers: int = Field(default=2, ge=1, le=64)
    require: tuple[Literal["seccomp", "rlimits", "fork_server", "landlock", "namespaces"], ...] = (
        "seccomp",
        "rlimits",
        "fork_server",
    )


class ServerSettings(_Section):
    """The HTTP face. Without keys it refuses to listen on anything but loopback."""

    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535)
    keys: tuple[SecretReference, ...] = ()
    request_limit_bytes: int = Field(default=1024 * 1024, ge=1024)


class SearchSettings(_Section):
    """What one answer of `search` may cost the model, whether used hits are recorded, and weights of one's own."""

    budget_tokens: int = Field(default=1_200, ge=100)
    record_usage: bool = True
    ranking: dict[str, float] = {}


class Settings(_Section):
    """The whole of `codemode.yaml`."""

    sources: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")], SourceSettings] = Field(min_length=1)
    limits: LimitSettings = LimitSettings()
    sandbox: SandboxSettings = SandboxSettings()
    search: SearchSettings = SearchSettings()
    server: ServerSettings = ServerSettings()
    state_folder: Path | None = None
    cache_folder: Path | None = None

    def state(self) -> Path:
        """Where what must be kept is kept: `state_folder`, else `codemode` in the user's state directory."""
        return self.state_folder or _user_folder("XDG_STATE_HOME", ".local/state")

    def cache(self) -> Path:
        """Where what can be made again is kept: `cache_folder`, else `codemode` in the user's cache directory."""
        return self.cache_folder or _user_folder("XDG_CACHE_HOME", ".cache")


def load_settings(path: str | Path = DEFAULT_FILE) -> Settings:
    """Read a configuration file. Raises ConfigurationError with all of its mistakes at once."""
    file = Path(path).expanduser()
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        message = f"the configuration {file} cannot be read: {reason}; name another with --config"
        raise ConfigurationError(message) from None
    try:
        node = yaml.compose(text, _LOADER)
        content = yaml.load(text, _LOADER)  # noqa: S506 -- a safe loader
    except yaml.YAMLError as error:
        message = f"{file}: not YAML: {' '.join(str(error).split())}"
        raise ConfigurationError(message) from None
    try:
        settings = Settings.model_validate(content if content is not None else {})
    except ValidationError as error:
        mistakes = sorted(_explain(dict(mistake), node) for mistake in error.errors())
        lines = "\n".join(f"  line {line}: {text}" for line, text in mistakes)
        message = f"{file} is not a valid configuration:\n{lines}"
        raise ConfigurationError(message) from None
    return _anchored(settings, file.parent)


def settings_for_document(
    location: str, *, base_url: str = "", name: str = "", bearer: SecretReference | None = None
) -> Settings:
    """Settings for one document and no file. Raises ConfigurationError.

    The namespace is `name`, else made of the location. `CODEMODE_API_KEY`, where it is set, is the server's key.
    """
    content = {
        "sources": {
            name or _namespace(location): {
                "location": location if "://" in location else str(Path(location).expanduser()),
                "base_url": base_url or None,
                "keep_names": False,  # another document may come under the same name next time
                "credentials": [{"kind": "bearer", "token": bearer}] if bearer else [],
            }
        },
        "server": {"keys": [{"env": API_KEY_VARIABLE}] if os.environ.get(API_KEY_VARIABLE) else []},
    }
    try:
        return Settings.model_validate(content)
    except ValidationError as error:
        mistakes = "; ".join(text for _, text in sorted(_explain(dict(mistake), None) for mistake in error.errors()))
        message = f"--source, --base-url, --name: {mistakes}"
        raise ConfigurationError(message) from None


def tokenizer_folder() -> Path | None:
    """Where the operator keeps a tokenizer's data, as `tiktoken` reads it; None for its default place."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR")
    return Path(folder) if folder else None


def is_url(location: str) -> bool:
    """Whether a source's location is fetched over HTTP."""
    return location.lower().startswith(("http://", "https://"))


def _namespace(location: str) -> str:
    """A namespace from a location: its file, folder or host, whichever first says more than 'openapi'."""
    parts = [part for part in re.split(r"[/\\\\]", location.partition("://")[2] or location) if part]
    words = [re.sub(r"\W+", "_", part.lower().split(".")[0]).strip("_") for part in reversed(parts)]
    return next((w for w in words if re.fullmatch(r"[a-z][a-z0-9_]{0,31}", w) and w not in _GENERIC_NAMES), "api")


def _user_folder(variable: str, usual: str) -> Path:
    """A folder of this program, by the XDG Base Directory Specification."""
    named = os.environ.get(variable, "")
    base = Path(named) if named.startswith("/") else Path(os.environ.get("HOME") or "/nonexistent") / usual
    return base / "codemode"


def _anchored(settings: Settings, folder: Path) -> Settings:
    sources = {
        name: source
        if is_url(source.location)
        else source.model_copy(update={"location": str(folder / Path(source.location).expanduser())})
        for name, source in settings.sources.items()
    }
    return settings.model_copy(update={"sources": sources})


def _explain(mistake: dict[str, Any], node: yaml.Node | None) -> tuple[int, str]:
    """The line of a mistake, and its key, what was expected, the nearest valid key."""
    location = tuple(part for part in mistake["loc"] if part != "[key]")
    line = _line(node, location)
    key = ".".join(str(part) for part in location) or "(the whole file)"
    text = str(mistake["msg"]).removeprefix("Value error, ")
    if mistake["type"] == "extra_forbidden":
        valid = _valid_keys(location[:-1])
        nearest = process.extractOne(str(location[-1]), valid, scorer=fuzz.ratio, score_cutoff=50)
        text = f"no such key; {f'did you mean {nearest[0]!r}? ' if nearest else ''}valid: {', '.join(sorted(valid))}"
    return line, f"{key}: {text}"


def _line(node: yaml.Node | None, location: tuple[Any, ...]) -> int:
    line = node.start_mark.line + 1 if node is not None else 1
    for part in location:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == str(part)), None)
            if pair is None:
                continue  # the name of a union's member, which is not in the file
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
    return line


def _valid_keys(location: tuple[Any, ...]) -> list[str]:
    whole = Settings.model_json_schema()
    section: dict[str, Any] = whole
    for part in location:
        by_pattern = next(iter(section.get("patternProperties", {}).values()), None)
        inner = section.get("properties", {}).get(part) or by_pattern or section.get("items")
        if not isinstance(inner, dict):  # the name of a union's member
            inner = {"$ref": section.get("discriminator", {}).get("mapping", {}).get(part)}
        inner = next((choice for choice in inner.get("anyOf", ()) if "$ref" in choice), inner)
        section = whole["$defs"].get(str(inner.get("$ref")).removeprefix("#/$defs/"), inner)
    return list(section.get("properties", {}))
