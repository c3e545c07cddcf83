"""Responses as bytes, in one piece and byte by byte."""

from __future__ import annotations

import pytest

from codemode.transports.http.response_parser import MOST_HEAD_BYTES, InvalidResponse, ResponseParser

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1;ext=1\r\nb\r\n0\r\n\r\n"
EARLY = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"

COMPLETE = {
    "length": HEAD + b"ab",
    "chunks": CHUNKED,
    "a trailer": CHUNKED[:-2] + b"Digest: x\r\n\r\n",
    "behind informational answers": EARLY + HEAD + b"ab",
    "behind empty lines": b"\r\n\r\n" + HEAD + b"ab",
    "lines that end in LF": b"HTTP/1.1 200 OK\nContent-Length: 2\n\nab",
    "no reason": HEAD.replace(b" OK", b"") + b"ab",
    "an offered upgrade": HEAD.replace(b"\r\n\r\n", b"\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\nab"),
}


def _parsed(*parts: bytes, answers_head: bool = False) -> ResponseParser:
    parser = ResponseParser(answers_head=answers_head)
    for part in parts:
        parser.feed(part)
    return parser


def _bytes(data: bytes) -> list[bytes]:
    return [bytes((byte,)) for byte in data]


@pytest.mark.parametrize("name", COMPLETE)
@pytest.mark.parametrize("split", [lambda data: [data], _bytes])
def test_a_complete_answer(name: str, split: object) -> None:
    assert callable(split)
    parser = _parsed(*split(COMPLETE[name]))
    assert (parser.status, parser.take()) == (200, b"ab")
    assert (parser.is_complete, parser.keeps_alive, parser.has_excess) == (True, True, False)
    assert all(header != b"Link" and header != b"Digest" for header, _ in parser.headers)


@pytest.mark.parametrize("name", COMPLETE)
@pytest.mark.parametrize("behind", [HEAD, b"HTTP/1.1 200 OK\r\nX-Forged: ", b"junk"])
def test_what_stands_behind_it_is_noticed_and_not_parsed(name: str, behind: bytes) -> None:
    for parser in (_parsed(COMPLETE[name] + behind), _parsed(COMPLETE[name], behind)):
        assert (parser.take(), parser.is_complete, parser.has_excess) == (b"ab", True, True)
        assert len(parser.headers) == len(_parsed(COMPLETE[name]).headers)


@pytest.mark.parametrize("behind", [b"\n", b"\r\n", b"c"])
def test_a_byte_behind_a_body_with_a_length_is_noticed(behind: bytes) -> None:
    assert _parsed(HEAD + b"ab" + behind).has_excess
    assert _parsed(HEAD, b"a", b"b" + behind).has_excess


@pytest.mark.parametrize("head", [b"HTTP/1.1 204 No Content\r\n\r\n", b"HTTP/1.1 304 Not\r\nContent-Length: 9\r\n\r\n"])
def test_an_answer_without_a_body(head: bytes) -> None:
    assert _parsed(head).is_complete
    assert not _parsed(head).has_excess
    assert _parsed(head + b"a").has_excess


def test_the_answer_to_a_head_request_has_no_body() -> None:
    assert _parsed(HEAD, answers_head=True).is_complete
    assert _parsed(HEAD + b"ab", answers_head=True).has_excess


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", b"HTTP/1.0 200 OK\r\n\r\n"])
def test_a_body_that_ends_with_the_connection(head: bytes) -> None:
    parser = _parsed(head + b"ab")
    assert not parser.is_complete
    parser.end()
    assert (parser.take(), parser.is_complete, parser.keeps_alive) == (b"ab", True, False)


@pytest.mark.parametrize("start", [b"", HEAD[:10], HEAD, HEAD + b"a", CHUNKED[:-2], EARLY])
def test_an_answer_that_breaks_off(start: bytes) -> None:
    parser = _parsed(start)
    with pytest.raises(InvalidResponse, match="the service closed the connection"):
        parser.end()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"junk\r\n\r\n", "Expected HTTP/"),
        (b"HTTP/1.1 200 OK\r\nA : b\r\n\r\n", "Invalid header token"),
        (b"HTTP/1.1 200 OK\r\nA: \x01\r\n\r\n", "Invalid header value char"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "Duplicate Content-Length"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "can't be present"),
        (CHUNKED.replace(b"\r\n1\r\na", b"\r\nz\r\na"), "Invalid character in chunk size"),
        (b"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n", "switches to another protocol"),
        (b"a" * (MOST_HEAD_BYTES + 1), "its head is longer than 102,400 bytes"),
    ],
)
def test_bytes_that_are_no_answer(data: bytes, reason: str) -> None:
    with pytest.raises(InvalidResponse, match=reason):
        _parsed(data)
