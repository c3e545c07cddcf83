"""`ast` reads and writes nothing but the fields that nodes of its classes have."""

from __future__ import annotations

import pytest

from tests.sandbox.guest.host_double import run_guest

FORGED = (
    "class Own:\n    _fields = ('__class__', '__dict__')",
    "Own = lambda: ast.Name(id='a', ctx=ast.Load(), _fields=('__class__',))",
    "Own = lambda: ast.Expr(value=ast.Name(id='a', ctx=ast.Load(), _fields=('__reduce_ex__',)))",
)
READ = (
    "list(ast.walk(Own()))",
    "ast.dump(Own())",
    "ast.unparse(Own())",
    "ast.NodeVisitor().visit(Own())",
    "ast.NodeTransformer().visit(Own())",
    "ast.literal_eval(Own())",
    "ast.fix_missing_locations(Own())",
    "ast.copy_location(ast.Pass(), Own())",
)


@pytest.mark.parametrize("read", READ)
@pytest.mark.parametrize("forged", FORGED)
def test_an_object_that_claims_other_fields_is_refused(forged: str, read: str) -> None:
    ended = run_guest(
        f"import ast\n{forged}\ntry:\n    {read}\nexcept (TypeError, ValueError) as e:\n    print('refused')"
    )

    assert (ended.status, ended.output) == ("completed", "refused\n")


@pytest.mark.parametrize(
    "source", ["'(' * 200 + ')' * 200", "'x = ' + '1 + ' * 60_000", "'-' * 500 + '1'", "5", "b'1'"]
)
def test_a_text_that_no_parser_should_see_is_refused(source: str) -> None:
    ended = run_guest(
        f"import ast\ntry:\n    ast.parse({source})\nexcept (SyntaxError, ValueError, TypeError):\n    print('refused')"
    )

    assert (ended.status, ended.output) == ("completed", "refused\n")


def test_what_a_tree_is_made_of_cannot_be_inherited_from() -> None:
    ended = run_guest("import ast\nclass Mine(ast.Name): pass")

    assert ended.status == "failed"
    assert "cannot be inherited from" in ended.message
