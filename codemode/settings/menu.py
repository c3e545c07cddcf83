"""The `menu` section: the tools offered for a message to a model that cannot write code."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from codemode.settings.model import ModelSettings
from codemode.settings.policy import Name, Names, Patterns
from codemode.settings.section import Section

#: Maximum number of tools in a chat completions request.
LARGEST_MENU = 128

RouterKind = Literal["none", "auto", "list", "lexical", "embedding", "model"]


def _weighted(value: Any) -> Any:
    """Return keywords with weights. Keywords in a list weigh 1, and numbers become words."""
    weights = dict.fromkeys(value, 1.0) if isinstance(value, (list, tuple)) else value
    if not isinstance(weights, dict):
        return weights
    return {str(word) if type(word) in (int, float) else word: weight for word, weight in weights.items()}


def _named(field: str, short_form: Any) -> BeforeValidator:
    """Accept a value of type `short_form` for a section with this one field."""
    return BeforeValidator(
        lambda value: {field: value} if isinstance(value, (str, int)) else value, json_schema_input_type=short_form
    )


Label = Annotated[str, Field(min_length=1, max_length=100)]
Labels = tuple[Label, ...]
Keyword = Annotated[str, Field(min_length=1, max_length=200)]
Weights = dict[Keyword, Annotated[float, Field(gt=0)]]
Keywords = Annotated[Weights, BeforeValidator(_weighted, json_schema_input_type=Weights | tuple[Keyword | float, ...])]


class CategorySettings(Section):
    """Tools that are offered together."""

    keywords: Keywords = Field(
        default={},
        description="Words that activate the category: a list, or a mapping to weights.",
        examples=[["letter", "inbox"], {"mail": 2, "letter": 1}],
    )
    related: Labels = Field(
        default=(), description="Categories that this one activates too.", examples=[["memberships", "attendance"]]
    )
    tools: Patterns = Field(
        default=(),
        description="Patterns of ids, or aliases, in the order in which tools are offered. Empty: the toolkit of the "
        "category's name, else the tools with this tag, else the group or namespace.",
        examples=[["outbox.messages.*"]],
    )
    description: str = Field(
        default="",
        max_length=2_000,
        description="What the category is for. Routers and models read it.",
        examples=["Sending and reading mail"],
    )
    instructions: str = Field(
        default="",
        max_length=20_000,
        description="Text for the model while the category is offered.",
        examples=["Ask before sending."],
    )
    examples: tuple[str, ...] = Field(
        default=(),
        description="Example calls, shown to the model while the category is offered.",
        examples=[["outbox.messages.send_email(to='ann@own.org')"]],
    )


class HistorySettings(Section):
    """The messages that are matched with keywords."""

    human_messages: int = Field(default=4, ge=1, description="Number of human messages, this one included.")
    messages_scanned: int = Field(
        default=8, ge=1, description="Number of latest messages in which human ones are looked for."
    )
    decay: float = Field(
        default=1.0,
        ge=0,
        le=1,
        description="With `scores: weighted`, the weight of a message relative to the next human message.",
    )


class RouterSettings(Section):
    """How categories are found when no keyword matches."""

    kind: RouterKind = Field(
        default="auto",
        description="`list`: all categories if there are few. `lexical`: by words. `embedding`: by meaning, with "
        "`search.embeddings`. `model`: a model chooses. `auto`: the best of the first three if no category has "
        "keywords, else `none`.",
    )
    top: int | None = Field(
        default=None,
        ge=1,
        description="Maximum number of categories. null: with words 3, or 8 if only their best tools are offered.",
        examples=[3],
    )
    threshold: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="Minimum cosine of a category. null: the one for the embedding model.",
        examples=[0.4],
    )
    thresholds: dict[str, float] = Field(
        default={}, description="Minimum cosine by embedding model.", examples=[{"my-model": 0.5}]
    )
    list_below: int = Field(
        default=8, ge=0, description="With `list` and `auto`: offer all categories if there are fewer than this."
    )
    wait_s: float = Field(
        default=5.0,
        gt=0,
        le=60,
        description="Seconds to wait for embeddings or the model. After that the menu does without them.",
    )
    model: ModelSettings | None = Field(
        default=None,
        description="The model of `kind: model`.",
        examples=[{"model": "gpt-5-nano", "api_key": {"env": "OPENAI_API_KEY"}}],
    )


class RetrievalSettings(Section):
    """How many tools of the categories are offered."""

    k: int | None = Field(
        default=None,
        ge=0,
        description="Number of tools that fit best. 0: whole categories. null: 15 tools of the categories that the "
        "router `auto` found, else whole categories.",
        examples=[15],
    )
    calls: int = Field(
        default=3,
        ge=0,
        description="Number of latest calls that add tools, a third of `k` at most, to those for the message.",
    )


class RoleMenuSettings(Section):
    """The menu of one role. Tools that the policy denies to the role are never in it."""

    core: Patterns | None = Field(
        default=None, description="`menu.core` of this role. null: the common one.", examples=[["gym.clients.*"]]
    )
    categories: Labels | None = Field(
        default=None, description="Categories of this role. null: all.", examples=[["mail"]]
    )
    defaults: Labels | None = Field(
        default=None, description="`menu.defaults` of this role. null: the common ones.", examples=[["mail"]]
    )
    cap: int | None = Field(
        default=None, ge=1, le=LARGEST_MENU, description="`menu.cap` of this role. null: the common one.", examples=[20]
    )


class MenuSettings(Section):
    """Which tools are offered for a message."""

    core: Patterns = Field(
        default=(),
        description="Ids, aliases or patterns of tools that are always offered, first.",
        examples=[["assistant.base.*"]],
    )
    core_tiers: Names = Field(
        default=("base", "core"), description="Tiers of toolkits that are always offered, after `core`."
    )
    cap: int = Field(
        default=LARGEST_MENU, ge=1, le=LARGEST_MENU, description="Maximum number of tools in a menu, all included."
    )
    max_tools: int | None = Field(
        default=None,
        ge=1,
        description="Maximum number of tools chosen for the message. null: as many as `cap` allows.",
        examples=[8],
    )
    match: Literal["substring", "word"] = Field(
        default="substring", description="Whether keywords match parts of words, or whole words."
    )
    scores: Literal["binary", "weighted"] = Field(
        default="binary", description="`weighted`: categories are ordered by the weights of their keywords."
    )
    threshold: float = Field(default=0.0, ge=0, description="Minimum score of a category.")
    relations: Literal["transitive", "direct", "none"] = Field(
        default="transitive", description="How far `related` categories are followed."
    )
    history: HistorySettings = Field(default=HistorySettings(), description="The messages that are matched.")
    defaults: Labels = Field(
        default=(), description="Categories that are offered if nothing matches.", examples=[["clients", "attendance"]]
    )
    categories: dict[Label, CategorySettings] = Field(
        default={},
        description="Categories by name.",
        examples=[{"mail": {"keywords": ["letter", "inbox"]}}],
    )
    strategy: Literal["balanced", "proportional"] = Field(
        default="balanced",
        description="How `max_tools` is divided. `proportional`: an equal part for each category, at least 2, in "
        "order. `balanced`: unused parts are redistributed.",
    )
    router: Annotated[RouterSettings, _named("kind", RouterSettings | RouterKind)] = Field(
        default=RouterSettings(), description="How categories are found when no keyword matches, or its kind alone."
    )
    retrieval: Annotated[RetrievalSettings, _named("k", RetrievalSettings | int)] = Field(
        default=RetrievalSettings(), description="How many tools of the categories are offered, or `k` alone."
    )
    request_more_tools: bool | None = Field(
        default=None,
        description="Offer a tool that loads further categories. null: if a session answers it. true: always. false: "
        "never.",
        examples=[True],
    )
    request_tool: bool | None = Field(
        default=None,
        description="Offer a tool that loads tools by name or description. null, true and false as for "
        "`request_more_tools`.",
        examples=[True],
    )
    namespaces: bool | None = Field(
        default=None,
        description="List the categories in the prompt. null: if none of them has keywords.",
        examples=[True],
    )
    prompt_tokens: int = Field(
        default=1_000,
        ge=0,
        description="Maximum length of the list of categories, and of instructions and examples, in tokens.",
    )
    record_usage: bool = Field(
        default=True, description="Store which tools were called, as input of `codemode measure menu`."
    )
    roles: dict[Name, RoleMenuSettings] = Field(
        default={},
        description="Differences by role of the policy.",
        examples=[{"clerk": {"categories": ["mail"], "cap": 20}}],
    )
