import sys
from typing import (
    Annotated,
    Callable,
    Dict,
    Generic,
    List,
    Literal,
    NotRequired,
    Optional,
    TypedDict,
    TypeVar,
    final,
    get_type_hints,
)

T = TypeVar("T")


class Row:
    parent: "Optional[Row]" = None


class Tree(Generic[T]):
    left: Optional["Tree[int]"]
    rows: list["Row"] | None
    by_name: Dict[str, "list[Row]"]
    word: Literal["Row"]
    find: Callable[["Row"], "Tree"]
    noted: Annotated[Optional["Row"], "note"]
    plain: List[int]


class Answer(TypedDict):
    rows: "list[Row]"
    next: NotRequired["Answer"]


print(*get_type_hints(Tree).items(), *get_type_hints(Answer).items(), sep="\n")


@final
class Marked(Generic[T]):
    rows: list[int]


print(T.__covariant__, T.__contravariant__, Marked.__final__, list[int].__unpacked__)
if sys.version_info >= (3, 13):
    import typing

    class Shaped(typing.Protocol):
        size: int

        @typing.override
        def area(self): ...

    class Fixed(TypedDict):
        id: typing.ReadOnly[int]

    print(sorted(typing.get_protocol_members(Shaped)), typing.is_protocol(Shaped), typing.is_protocol(int))
    print(typing.NoDefault, TypeVar("U").__default__, TypeVar("U", default=int).__default__, TypeVar("U").has_default())
    print(Fixed.__readonly_keys__, Fixed.__mutable_keys__, Shaped.area.__override__)
    print(Shaped.__firstlineno__, Shaped.__static_attributes__)
from typing import Annotated
class Noted:
    a: Optional[Annotated[str, 1]] = None
    b: int | list[Annotated[str, "m"]]
    c: dict[str, Annotated[int, 2]] | None
    d: Annotated[list[Annotated[int, 3]], 4]
print(get_type_hints(Noted))
print(get_type_hints(Noted, include_extras=True))
class One(TypedDict):
    one: int
class Two(TypedDict, total=False):
    two: str
class Both(One, Two):
    three: bool
print(Both(one=1, three=True), sorted(Both.__required_keys__), sorted(Both.__optional_keys__), Both.__annotations__)
print("__doc__" in vars(Exception))
