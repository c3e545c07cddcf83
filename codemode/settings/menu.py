"""The section on menus: which tools a model that cannot write code is offered for a message."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator

from codemode.settings.policy import Name, Names, Patterns
from codemode.settings.secrets import SecretReference
from codemode.settings.section import Section
from codemode.settings.sources import is_url

#: The most tools that one chat-completions request takes.
LARGEST_MENU = 128

RouterKind = Literal["none", "auto", "list", "lexical", "embedding", "model"]


def _weighted(value: Any) -> Any:
    """A list of keywords is one in which each weighs 1; numbers are words too."""
    weights = dict.fromkeys(value, 1.0) if isinstance(value, (list, tuple)) else value
    if not isinstance(weights, dict):
        return weights
    return {str(word) if type(word) in (int, float) else word: weight for word, weight in weights.items()}


def _named(field: str) -> BeforeValidator:
    """One value stands for a section with that field alone."""
    return BeforeValidator(lambda value: {field: value} if isinstance(value, (str, int)) else value)


Label = Annotated[str, Field(min_length=1, max_length=100)]
Labels = tuple[Label, ...]
Keywords = Annotated[
    dict[Annotated[str, Field(min_length=1, max_length=200)], Annotated[float, Field(gt=0)]],
    BeforeValidator(_weighted),
]


class CategorySettings(Section):
    """Tools that are offered together.

    `tools` are patterns of ids or other exact names, in the order in which they are offered; without any those of the
    toolkit of the category's name, else those with it as tag, else of the group or namespace. `keywords` may have
    weights. `instructions` and `examples` are shown to the model while the category is offered.
    """

    keywords: Keywords = Field(default_factory=dict)
    related: Labels = ()
    tools: Patterns = ()
    description: str = Field(default="", max_length=2_000)
    instructions: str = Field(default="", max_length=20_000)
    examples: tuple[str, ...] = ()


class HistorySettings(Section):
    """Which messages are matched: the last `human_messages` among the last `messages_scanned`, this one included.

    With weighted scores a message counts `decay` times what the human message after it does.
    """

    human_messages: int = Field(default=4, ge=1)
    messages_scanned: int = Field(default=8, ge=1)
    decay: float = Field(default=1.0, ge=0, le=1)


class RouterModelSettings(Section):
    """A model that names categories, on any service that speaks chat completions; `base_url` ends in `/v1`."""

    model: str = Field(min_length=1)
    base_url: str = "https://api.openai.com/v1"
    api_key: SecretReference | None = None

    @field_validator("base_url")
    @classmethod
    def _http(cls, base_url: str) -> str:
        if not is_url(base_url):
            message = "give an address that begins with http:// or https://"
            raise ValueError(message)
        return base_url


class RouterSettings(Section):
    """Finds categories that no keyword did.

    `list` takes all where they are fewer than `list_below`; `lexical` searches by words, `embedding` compares meanings
    (`search.embeddings`), `model` asks one. At most `top` categories, by words 3, or 8 where only the best tools of
    them are taken; `threshold` is the least cosine, else that of `thresholds` for the model. What is not there within
    `wait_s` is done without. `auto` is the best of the first three where no category has keywords, and none where one
    has.
    """

    kind: RouterKind = "auto"
    top: int | None = Field(default=None, ge=1)
    threshold: float | None = Field(default=None, ge=-1, le=1)
    thresholds: dict[str, float] = Field(default_factory=dict)
    list_below: int = Field(default=8, ge=0)
    wait_s: float = Field(default=5.0, gt=0, le=60)
    model: RouterModelSettings | None = None


class RetrievalSettings(Section):
    """Of the categories that were found the `k` tools that fit best, 0 for whole categories.

    The query is the message, the summary of the conversation, and the last `calls` calls. Without a `k` these are whole
    categories, but for those that the router `auto` found: of them 15 tools.
    """

    k: int | None = Field(default=None, ge=0)
    calls: int = Field(default=3, ge=0)


class RoleMenuSettings(Section):
    """What differs for a role. What the policy does not let it use is in no menu anyway."""

    core: Patterns | None = None
    categories: Labels | None = None
    defaults: Labels | None = None
    cap: int | None = Field(default=None, ge=1, le=LARGEST_MENU)


class MenuSettings(Section):
    """Which tools are offered for a message.

    `core` are always offered, first, and with them the toolkits of `core_tiers`. `cap` counts everything that is sent,
    `max_tools` what is chosen for the message. `request_more_tools` and `request_tool` are tools by which a model asks
    for more: offered wherever somebody answers them (null), also by `select_menu` (true), or nowhere (false).
    """

    core: Patterns = ()
    core_tiers: Names = ("base", "core")
    cap: int = Field(default=LARGEST_MENU, ge=1, le=LARGEST_MENU)
    max_tools: int | None = Field(default=None, ge=1)
    match: Literal["substring", "word"] = "substring"
    scores: Literal["binary", "weighted"] = "binary"
    threshold: float = Field(default=0.0, ge=0)
    relations: Literal["transitive", "direct", "none"] = "transitive"
    history: HistorySettings = HistorySettings()
    defaults: Labels = ()
    categories: dict[Label, CategorySettings] = Field(default_factory=dict)
    strategy: Literal["balanced", "proportional"] = "balanced"
    router: Annotated[RouterSettings, _named("kind")] = RouterSettings()
    retrieval: Annotated[RetrievalSettings, _named("k")] = RetrievalSettings()
    request_more_tools: bool | None = None
    request_tool: bool | None = None
    namespaces: bool | None = None
    prompt_tokens: int = Field(default=1_000, ge=0)
    record_usage: bool = True
    roles: dict[Name, RoleMenuSettings] = Field(default_factory=dict)
