"""Answers of services: charsets, encodings, streams, numbers, errors."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from codemode.errors import AnswerInvalid, UpstreamError, UpstreamTimeout
from codemode.sources.openapi.document import load_openapi
from codemode.transports.base import CallContext
from codemode.transports.content import ContentStore
from codemode.transports.http.answers import decode, error_of, events, filename_of, loaded
from codemode.transports.http.decompression import PackedWrongly, Unpacker
from codemode.transports.http.transport import HttpTransport, Reach
from tests.unit.codemode.transports.recorder import Answered
from tests.unit.codemode.transports.sockets import listening

if TYPE_CHECKING:
    from tests.unit.codemode.transports.recorder import Recorder

TOOL = load_openapi({"openapi": "3.1.0", "paths": {"/x": {"get": {"operationId": "op"}}}}, name="api").tools[0]


def _decoded(body: bytes, media_type: str, *, wants_json: bool = False) -> Any:
    headers = {"content-type": media_type} if media_type else {}
    return decode(body, headers, wants_json=wants_json, status=200, contents=ContentStore().of(""))


@pytest.mark.parametrize(
    ("body", "media_type", "expected"),
    [
        ('["é"]'.encode("latin-1"), "application/json; charset=ISO-8859-1", ["é"]),
        ('["€"]'.encode("cp1252"), 'application/json;charset="windows-1252"', ["€"]),
        ('["é"]'.encode(), "application/json; charset=utf8", ["é"]),
        ('["é"]'.encode(), "application/json; charset=no-such", ["é"]),
        ('["é"]'.encode(), "application/json; charset=undefined", ["é"]),
        ("é".encode(), "text/plain; charset=idna", "é"),
        ("é".encode(), "text/plain; charset=punycode", "é"),
        ("€".encode("shift_jis", "replace"), "text/plain; charset=Shift_JIS", "?"),
        (b'\xef\xbb\xbf["\xc3\xa9"]', "application/json", ["é"]),
        ('["é"]'.encode("utf-16"), "application/json; charset=utf-16", ["é"]),
        ('["é"]'.encode("utf-16-le"), "application/json", ["é"]),
        ("é".encode("latin-1"), "text/plain; charset=latin-1", "é"),
        ("ž".encode("latin2"), "text/plain; charset=latin2", "ž"),
        ("あ".encode("cp932"), "text/plain; charset=MS932", "あ"),
        (b'["x"]', "", ["x"]),
        (b"[NaN, Infinity, -Infinity]", "application/json", ["NaN", "Infinity", "-Infinity"]),
        (b"[1e308, 1e-999, -0.0]", "application/json", [1e308, 0.0, -0.0]),
        (b'["\\ud800", "\\ud83d\\ude00"]', "application/json", ["\ufffd", "\U0001f600"]),
        (b'{"a":1}\n\n{"a":2}\r\n', "application/x-ndjson", [{"a": 1}, {"a": 2}]),
        (b'\x1e{"a":1}\n\x1e{"a":2}\n', "application/json-seq", [{"a": 1}, {"a": 2}]),
        ('{"a":"\u2028"}\n{"a":"é"}'.encode(), "application/jsonl", [{"a": "\u2028"}, {"a": "é"}]),
    ],
)
def test_data_are_read_as_they_were_written(body: bytes, media_type: str, expected: Any) -> None:
    assert _decoded(body, media_type) == expected


@pytest.mark.parametrize(
    ("body", "media_type", "said"),
    [
        (b"[1e999]", "application/json", "the number 1e999 is larger than any float"),
        (b"[1" + b"0" * 400 + b".5]", "application/json", "the number 10000000000000000000 is larger than any float"),
        (b"[1" + b"0" * 5_000 + b"]", "application/json", "integer string conversion"),
        (b'{"a":1}\n{"a":', "application/x-ndjson", "invalid JSON"),
        (
            b"1\n" * 10_001,
            "application/x-ndjson",
            "answered 200 with 10,001 lines, above the limit of 10,000: request less",
        ),
        (b"data: 1\n\n" * 10_001, "text/event-stream", "10,001 events, above the limit of 10,000"),
        (b'["\xe9"]', "application/json", "invalid JSON"),
        (b"[" * 300 + b'"\\ud800"' + b"]" * 300, "application/json", r"nested more than 200 deep"),
        (
            b"[" + b"[]," * 1_000_000 + b"1]",
            "application/json",
            "with more than 1,000,000 lists and objects: request less",
        ),
        (b"[{},{}]\n" * 500_000, "application/x-ndjson", "more than 1,000,000 lists and objects"),
        (b"data: [[],[]]\n\n" * 500_000, "text/event-stream", "more than 1,000,000 lists and objects"),
        (b'{"a":' * 5_000 + b"1" + b"}" * 5_000, "application/json", r"invalid JSON"),
    ],
)
def test_data_that_cannot_be_used_say_why(body: bytes, media_type: str, said: str) -> None:
    with pytest.raises(AnswerInvalid, match=said):
        _decoded(body, media_type)


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (b"a" * 10_000_000, "text/plain; charset=punycode"),
        (b"data:\n" * 2_000_000, "text/event-stream"),
    ],
)
def test_no_answer_holds_the_host_up(body: bytes, media_type: str) -> None:
    """Each of these once took many minutes. A test's time limit is 20 seconds."""
    assert _decoded(body, media_type) is not None


@pytest.mark.parametrize(
    "body", [b"[" * 4_000_000, b"[](" * 1_000_000, b"\n" * 4_000_000, b'{"error":"' + b"[" * 4_000_000 + b'"}'], ids=len
)
@pytest.mark.parametrize("media_type", ["text/html", "text/plain"])
def test_no_error_holds_the_host_up(body: bytes, media_type: str) -> None:
    assert len(str(error_of(body, {"content-type": media_type}, 500, "api"))) < 400


@pytest.mark.parametrize("body", [b"&#" + b"9" * 5_000 + b";", b'{"message":"&#' + b"9" * 5_000 + b'"}'])
def test_numbers_of_characters_in_errors_are_read_however_long_they_are(body: bytes) -> None:
    assert str(error_of(body, {"content-type": "text/html"}, 500, "api")).startswith("api answered 500")


def test_an_error_that_is_nested_too_deeply_is_a_text() -> None:
    error = error_of(b'{"errors":[' + b"[" * 300 + b"]" * 300 + b"]}", {}, 500, "api")
    assert isinstance(error.body, str)
    assert isinstance(error_of(b"[" + b"[]," * 1_000_000 + b"1]", {}, 500, "api").body, str)


def test_a_large_table_is_taken() -> None:
    table = _decoded(b"[" + b"[1700000000,1.5]," * 900_000 + b"[1]]", "application/json")
    assert len(table) == 900_001


@pytest.mark.parametrize(
    "disposition", ["attachment; filename*=undefined''a%ff", "attachment; filename*=idna''%ff", "a;" * 40_000], ids=len
)
def test_a_name_of_a_file_that_cannot_be_read_is_none(disposition: str) -> None:
    assert filename_of({"content-disposition": disposition}) == ""


def test_text_in_the_place_of_json_comes_along_with_its_lines() -> None:
    with pytest.raises(AnswerInvalid, match="with text/csv, but JSON is declared: 'id;name 1;Ann'") as caught:
        _decoded(b"id;name\n1;Ann\n", "text/csv", wants_json=True)
    assert caught.value.body == "id;name\n1;Ann\n"


def test_bytes_in_the_place_of_json_are_counted_and_not_shown() -> None:
    with pytest.raises(AnswerInvalid, match=r"with image/png, but JSON is declared: 12 bytes$"):
        decode(
            b"\x89PNG\r\n\x1a\n\0\0\0\0",
            {"content-type": "image/png"},
            wants_json=True,
            status=200,
            contents=ContentStore().of(""),
        )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("data: 1\n\ndata: 2\n\n", [{"data": 1}, {"data": 2}]),
        ("data: a\ndata: b\n\n", [{"data": "a\nb"}]),
        (": a comment\n:\n\nevent: done\nid: 7\ndata: {}\n\n", [{"event": "done", "id": "7", "data": {}}]),
        ("data: 1\r\n\r\ndata: 2\r\n\r\n", [{"data": 1}, {"data": 2}]),
        ("data: 1\r\rdata: 2\r\r", [{"data": 1}, {"data": 2}]),
        ("data:1\n\ndata: [DONE]\n\ndata: 3\n\n", [{"data": 1}]),
        ("data: [DONE]", []),
        ("event: ping\n\nid: 1\n\ndata\n\n", []),
        ("data: 1", [{"data": 1}]),
        ("\ufeffdata: 1\n\n", [{"data": 1}]),
        ("retry: 5\nunknown: x\ndata:  two spaces\n\n", [{"data": " two spaces"}]),
        ('data: {"a": "\u2028\u0085"}\n\n', [{"data": {"a": "\u2028\u0085"}}]),
        ('data: {"a":\ndata: 1}\n\n', [{"data": {"a": 1}}]),
        ("data: 1e999\n\n", [{"data": "1e999"}]),
    ],
)
def test_events_are_those_of_the_standard(text: str, expected: list[dict[str, Any]]) -> None:
    assert events(text) == expected


@pytest.mark.parametrize(
    ("media_type", "sent", "expected"),
    [
        ("text/event-stream", b"data: 1\n\ndata: 2\n\ndata: 3 is not who", [{"data": 1}, {"data": 2}]),
        ("application/x-ndjson", b'{"n": 1}\n{"n": 2}\n{"n": ', [{"n": 1}, {"n": 2}]),
        ("application/jsonl; charset=utf-8", b"1\r\n2\r\n3", [1, 2]),
        ("application/json-seq", b"\x1e1\x1e2\x1e3", [1, 2]),
        ("application/json", b'{"type": "ADDED"}\n{"type": "DELETED"}\n', [{"type": "ADDED"}, {"type": "DELETED"}]),
        ("application/json", b'{"a": [\n1]}\n{', None),
        ("application/x-ndjson", b'{"n": ', None),
    ],
)
async def test_a_stream_that_does_not_end_gives_what_came_whole(media_type: str, sent: bytes, expected: Any) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: " + media_type.encode() + b"\r\n\r\n" + sent)
        await writer.drain()
        await reader.read()  # until the client disconnects

    async with listening(serve) as port:
        transport = HttpTransport(Reach("api", f"http://127.0.0.1:{port}", timeout_s=1))
        if expected is None:
            with pytest.raises(UpstreamTimeout):
                await transport.call(TOOL, {}, CallContext())
        else:
            assert await transport.call(TOOL, {}, CallContext()) == expected
        await transport.aclose()


@pytest.mark.parametrize(
    ("body", "media_type", "expected"),
    [
        ('{"t": "5 € at Café"}'.encode(), "application/json;charset=ISO-8859-1", {"t": "5 € at Café"}),
        ('{"t": "Müller"}'.encode("latin-1"), "application/json; charset=iso-8859-1", {"t": "Müller"}),
        ('{"t": "5 €"}'.encode("cp1252"), "application/json;charset=windows-1252", {"t": "5 €"}),
        ('{"t": "漢字"}'.encode("shift_jis"), "application/json;charset=shift_jis", {"t": "漢字"}),
        (b')]}\'\n{"a": 1}', "application/json", {"a": 1}),
        (b")]}',\n[1]", "application/json", [1]),
        (b"while(1);[1]", "application/json", [1]),
        (b"for (;;);{}", "application/json", {}),
        (b'\n  for(;;);\n["for(;;);"]', "application/json", ["for(;;);"]),
        (b'\n\n["while(1);"]', "application/json", ["while(1);"]),
        (b"false", "application/json", False),
        (b'{"a": 1}\n{"a": 2}\n', "application/json", [{"a": 1}, {"a": 2}]),
        (b'a,b\r\n"x\r\ny",2\r\n', "text/csv", 'a,b\r\n"x\r\ny",2\r\n'),
        (b"a,b\r\n", "application/csv", "a,b\r\n"),
    ],
)
def test_odd_answers_are_read_as_they_were_meant(body: bytes, media_type: str, expected: Any) -> None:
    assert _decoded(body, media_type) == expected


def _unpacked(encoding: str, body: bytes, step: int = 7) -> bytes:
    unpacker = Unpacker(encoding)
    found = b"".join(piece for at in range(0, len(body), step) for piece in unpacker.pieces(body[at : at + step]))
    unpacker.end()
    return found


TEXT = b"some text, " * 100_000


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("", TEXT),
        ("identity", TEXT),
        ("gzip", gzip.compress(TEXT, mtime=0)),
        ("X-GZip", gzip.compress(TEXT, mtime=0)),
        ("gzip", gzip.compress(TEXT[:500_000], mtime=0) + gzip.compress(TEXT[500_000:], mtime=0)),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", zlib.compress(TEXT, wbits=-15)),
        ("deflate, gzip", gzip.compress(zlib.compress(TEXT), mtime=0)),
    ],
)
@pytest.mark.parametrize("step", [1_000, 10**9])
def test_packed_answers_are_unpacked(encoding: str, body: bytes, step: int) -> None:
    assert _unpacked(encoding, body, step) == TEXT


@pytest.mark.parametrize(
    ("encoding", "body", "said"),
    [
        ("br", b"x", "its encoding is 'br', which was not requested"),
        ("zstd", b"x", "its encoding is 'zstd'"),
        ("gzip, gzip, gzip", b"x", "which was not requested"),
        ("gzip", b"no gzip at all", "it is not valid gzip"),
        ("deflate", b"no deflate at all", "it is not valid deflate"),
        ("gzip", gzip.compress(TEXT, mtime=0)[:-10], "it ends too early"),
    ],
)
def test_what_cannot_be_unpacked_says_why(encoding: str, body: bytes, said: str) -> None:
    with pytest.raises(PackedWrongly, match=said):
        _unpacked(encoding, body)


def test_a_bomb_is_unpacked_piece_by_piece() -> None:
    bomb = gzip.compress(gzip.compress(bytes(50_000_000)))
    pieces = Unpacker("gzip, gzip").pieces(bomb)
    assert max(len(next(pieces)) for _ in range(20)) <= 256 * 1024


async def test_a_bomb_ends_at_the_limit(recorder: Recorder) -> None:
    bomb = gzip.compress(bytes(20_000_000))
    recorder.answer = lambda _: Answered(200, {"Content-Type": "application/json", "Content-Encoding": "gzip"}, bomb)
    transport = HttpTransport(Reach("api", recorder.url, response_limit_bytes=100_000))
    with pytest.raises(AnswerInvalid, match="larger than 100,000 bytes"):
        await transport.call(TOOL, {}, CallContext())
    await transport.aclose()


def test_problem_details_are_said(recorder: Recorder) -> None:
    problem = {
        "type": "https://x.test/out",
        "title": "Out of credit",
        "detail": "You need 30, you have 5",
        "balance": 5,
    }
    headers = {"content-type": "application/problem+json", "retry-after": "Wed, 21 Oct 2115 07:28:00 GMT"}
    error = error_of(json.dumps(problem).encode(), headers, 403, "api")
    assert str(error).startswith("api answered 403 Forbidden: Out of credit: You need 30, you have 5; retry after ")
    assert (error.status, error.body) == (403, problem)
    assert error_of(b"", {}, 599, "api").args == ("api answered 599",)


class Dropping:
    """A server that answers once per connection, and drops the next request unread."""

    def __init__(self, answers: int = 1) -> None:
        self.heads: list[bytes] = []
        self.answers = answers

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for number in range(self.answers + 1):
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head.split(b" ")[0])
            if number < self.answers:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 3\r\n\r\n[1]")
                await writer.drain()


@pytest.mark.parametrize(("method", "sent"), [("get", 3), ("put", 3), ("post", 2), ("delete", 2)])
async def test_a_stale_connection_costs_what_may_be_repeated_nothing(method: str, sent: int) -> None:
    document = {"openapi": "3.1.0", "paths": {"/x": {method: {"operationId": "op"}}}}
    (tool,) = load_openapi(document, name="api").tools
    dropping = Dropping()
    async with listening(dropping.serve) as port:
        waits: list[float] = []

        async def sleep(seconds: float) -> None:
            waits.append(seconds)

        transport = HttpTransport(Reach("api", f"http://127.0.0.1:{port}"), sleep=sleep)
        assert await transport.call(tool, {}, CallContext()) == [1]
        if sent == 3:
            assert await transport.call(tool, {}, CallContext()) == [1]
            assert waits == [0.0]
        else:
            with pytest.raises(UpstreamTimeout, match="it is unknown whether it did the work"):
                await transport.call(tool, {}, CallContext())
        await transport.aclose()
    assert len(dropping.heads) == sent


async def test_no_more_connections_than_calls_at_once(recorder: Recorder) -> None:
    recorder.answer = lambda _: Answered(500, {}, b"")
    transport = HttpTransport(Reach("api", recorder.url, concurrency=2, retries=0))
    results = await asyncio.gather(
        *(transport.call(TOOL, {}, CallContext()) for _ in range(20)), return_exceptions=True
    )
    await transport.aclose()
    assert all(isinstance(result, UpstreamError) for result in results)
    assert len(recorder.received) == 20


@pytest.mark.parametrize(
    ("name", "expected"), [(b"caf\xc3\xa9.bin", "caf\u00e9.bin"), (b"caf\xe9.bin", "caf\u00e9.bin")]
)
async def test_names_in_headers_are_text(name: bytes, expected: str) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\nContent-Length: 1\r\n")
        writer.write(b'Content-Disposition: attachment; filename="' + name + b'"\r\n\r\nx')
        await writer.drain()

    async with listening(serve) as port:
        transport = HttpTransport(Reach("api", f"http://127.0.0.1:{port}"))
        assert (await transport.call(TOOL, {}, CallContext()))["name"] == expected
        await transport.aclose()


def test_halves_of_surrogate_pairs_in_an_error_do_not_go_further() -> None:
    error = error_of(b'{"message": "no \\ud800", "\\udfff": [1]}', {}, 400, "api")
    assert error.body == {"message": "no \ufffd", "\ufffd": [1]}
    assert str(error) == "api answered 400 Bad Request: no \ufffd"


@pytest.mark.parametrize(
    "number", ["9" * 19, "-" + "9" * 18, "-" + "9" * 19, str(2**64 - 1), str(2**64), "-0", "1e308", "0." + "1" * 25]
)
def test_numbers_are_those_of_the_standard_library_in_small_and_large_answers(number: str) -> None:
    (expected,) = json.loads(f"[{number}]")
    large = b'["' + b"x" * 100_000 + b'",' + number.encode() + b"]"
    assert [repr(value) for value in (loaded(f"[{number}]")[0], loaded(large)[1])] == [repr(expected)] * 2


def test_integers_of_many_digits_are_counted() -> None:
    assert loaded(b"[" + b",".join([b"7" * 4_000] * 20) + b"]") == [int("7" * 4_000)] * 20
    assert len(loaded(b"[" + b",".join([b"7" * 99] * 20_000) + b"]")) == 20_000
    assert loaded(b'["' + b"7" * 500_000 + b'", -0]')[0] == "7" * 500_000
    with pytest.raises(ValueError, match="integers of over 100 digits have more than 100,000 together"):
        loaded(b"[" + b",".join([b"7" * 4_000] * 30) + b"]")
