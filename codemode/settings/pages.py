"""How a list is paged, where neither the document nor the answers say it."""

from __future__ import annotations

from pydantic import Field, model_validator

from codemode.settings.section import Section

#: Keys that lead to the next page.
_LEADING = ("next", "cursor", "after", "page", "offset")


class PagesSettings(Section):
    """The pages of a list. Parameters have the service's names; dots lead into objects, both there and in answers."""

    items: str = Field(
        default="", description="Field of the items. Empty: found in the answer.", examples=["hits.rows"]
    )
    next: str = Field(
        default="",
        description="Field that leads to the next page: a URL, or the value of the parameter below.",
        examples=["meta.resume"],
    )
    cursor: str = Field(default="", description="Parameter that takes a cursor.", examples=["since"])
    after: str = Field(default="", description="Parameter that takes the id of the last item.", examples=["last_seen"])
    page: str = Field(default="", description="Parameter that takes the number of the page.", examples=["p"])
    offset: str = Field(default="", description="Parameter that takes the number of items to skip.", examples=["from"])
    size: str = Field(default="", description="Parameter that takes the size of a page.", examples=["n"])
    start: int | None = Field(
        default=None,
        ge=0,
        description="Number of the first page, or the first offset. null: as the document says.",
        examples=[0],
    )

    @model_validator(mode="after")
    def _leads_on(self) -> PagesSettings:
        if not any(getattr(self, key) for key in _LEADING):
            message = f"set one of {', '.join(_LEADING)}: nothing else leads to the next page"
            raise ValueError(message)
        if (self.page or self.offset) and (self.cursor or self.after):
            raise ValueError(
                "set cursor or after (the answer names the next page), or page or offset (pages are counted)"
            )
        return self

    @property
    def words(self) -> dict[str, str]:
        """The keys that name parameters and fields."""
        return {key: text for key, text in self.model_dump(exclude={"start"}).items() if text}
