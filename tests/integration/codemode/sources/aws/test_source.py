"""AWS services as sources, against moto's server on loopback."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError
from typer.testing import CliRunner

from codemode import CodeMode, ConfigurationError
from codemode.catalog import stubs
from codemode.catalog.effects import effect_of_verb
from codemode.serving.cli.sources import app
from codemode.settings import Settings, SourceSettings
from tests.unit.codemode.transports.recorder import Answered

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from codemode.catalog.catalog import Catalog
    from codemode.executions.types.outcome import ExecutionOutcome
    from tests.unit.codemode.transports.recorder import Recorder

SECRET = "a-very-secret-key"


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    """The address of the server."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (tmp_path / "id").write_text("AKIAEXAMPLE")
    (tmp_path / "secret").write_text(SECRET)
    key = {
        "kind": "aws",
        "access_key_id": {"file": str(tmp_path / "id")},
        "secret_access_key": {"file": str(tmp_path / "secret")},
    }

    def configuration(**source: Any) -> dict[str, Any]:
        aws = {"kind": "aws", "services": ["s3", "sqs"], "region": "eu-central-1", "credentials": [key], **source}
        folders = {"state_folder": str(tmp_path / "state"), "cache_folder": str(tmp_path / "cache")}
        return {"sources": {"aws": aws}, "policy": {"default": {"destructive": "allow"}}, **folders}

    return configuration


@pytest.fixture
async def aws(configured: Callable[..., dict[str, Any]], moto: str) -> AsyncIterator[CodeMode]:
    async with CodeMode.from_settings(Settings.model_validate(configured(base_url=moto))) as service:
        yield service


def message(outcome: ExecutionOutcome) -> str:
    assert outcome.failure is not None
    return outcome.failure.message


BUCKET = """
aws.s3.create_bucket(Bucket="{name}", CreateBucketConfiguration={{"LocationConstraint": "eu-central-1"}})
for n in range(5):
    aws.s3.put_object(Bucket="{name}", Key=f"k{{n}}", Body=f"text {{n}}", ContentType="text/plain")
"""


async def test_operations_are_tools_named_as_boto_names_them(aws: CodeMode) -> None:
    found = aws.catalog.get("aws.s3.list_objects_v2")
    assert stubs.signature(found).startswith("aws.s3.list_objects_v2(*, Bucket: str, Delimiter: str | None = None,")
    assert found.summary.startswith("Returns some or all (up to 1,000) of the objects in a bucket")
    assert aws.catalog.find("s3:ListObjectsV2") is aws.catalog.find("ListObjectsV2") is found
    assert found.parameter_names == tuple(parameter.name for parameter in found.parameters)
    assert aws.catalog.get("aws.s3.put_object").summary == "Adds an object to a bucket"
    effects = {
        "s3.get_object": "read",
        "s3.head_object": "read",
        "s3.put_object": "write",
        "s3.delete_object": "destructive",
        "s3.delete_objects": "destructive",
        "sqs.purge_queue": "destructive",
        "sqs.send_message": "write",
    }
    assert {name: str(aws.catalog.get(f"aws.{name}").effect) for name in effects} == effects
    reasons = {warned.pointer: warned.reason for warned in aws.sources["aws"].warnings}
    assert reasons == {"s3.SelectObjectContent": "is an event stream: left out"}


async def test_streams_are_content_that_can_be_passed_on_and_text_can_be_read(aws: CodeMode) -> None:
    code = f"""{BUCKET.format(name="streams")}
made = aws.s3.get_object(Bucket="streams", Key="k1")
aws.s3.put_object(Bucket="streams", Key="copy", Body=made["Body"])
aws.s3.put_object(Bucket="streams", Key="bytes", Body={{"$base64": "AP8="}})
copy, raw = (aws.s3.get_object(Bucket="streams", Key=key)["Body"] for key in ("copy", "bytes"))
facts = [made["Body"]["text"], made["LastModified"][10], made["ContentLength"]]
facts + [copy["size_bytes"], raw["size_bytes"], "text" in raw]
"""
    outcome = await aws.execute(code)
    assert outcome.value == ["text 1", "T", 6, 6, 2, False], outcome.failure
    assert "ResponseMetadata" not in str((await aws.execute("aws.s3.list_buckets()")).value)


async def test_lists_are_walked_as_botocore_pages_them(aws: CodeMode) -> None:
    code = f"""{BUCKET.format(name="paged")}
pages = list(aws.s3.list_objects_v2.pages(Bucket="paged", MaxKeys=2))
[item["Key"] for item in aws.s3.list_objects_v2.items(Bucket="paged", MaxKeys=2)], len(pages)
"""
    assert (await aws.execute(code)).value == [["k0", "k1", "k2", "k3", "k4"], 3]
    refused = await aws.execute("aws.s3.get_object.items(Bucket='paged', Key='k')")
    assert "pages" in message(refused)


async def test_errors_have_the_code_of_aws_and_no_secret(aws: CodeMode) -> None:
    code = """
try:
    aws.s3.get_object(Bucket="nothing-there", Key="k")
except ToolError as error:
    print(error.status, error.body["Code"])
"""
    assert (await aws.execute(code)).output == "404 NoSuchBucket\n"
    misspelt = await aws.execute("aws.s3.head_bucket(Bukket='b')")
    assert "has no parameter 'Bukket'; did you mean 'Bucket'?" in message(misspelt)
    code = "aws.sqs.send_message(QueueUrl='q', MessageBody='m', MessageAttributes={'a': {'DataTypo': 'x'}})"
    assert "DataTyp" in message(await aws.execute(code))
    short = await aws.execute("aws.s3.head_bucket(Bucket='')")
    assert SECRET not in str(short)


async def test_a_service_that_gives_secrets_back_gives_them_to_nobody(
    configured: Callable[..., dict[str, Any]], recorder: Recorder, tmp_path: Path
) -> None:
    (tmp_path / "session").write_text("a-session-token/with=signs")
    configuration = configured(base_url=recorder.url, retries=0)
    configuration["sources"]["aws"]["credentials"][0]["session_token"] = {"file": str(tmp_path / "session")}
    shown = {"Content-Type": "application/x-amz-json-1.0"}
    async with CodeMode.from_settings(Settings.model_validate(configuration)) as service:
        recorder.answer = lambda got: Answered(
            headers=shown, body=json.dumps({"QueueUrls": [got.headers["X-Amz-Security-Token"]]}).encode()
        )
        assert (await service.execute("aws.sqs.list_queues()['QueueUrls']")).value == ["[redacted]"]
        recorder.answer = lambda got: Answered(
            400, shown, json.dumps({"__type": "Odd", "message": got.headers["X-Amz-Security-Token"]}).encode()
        )
        assert message(await service.execute("aws.sqs.list_queues()")).endswith("aws: Odd: [redacted]")
    assert len(recorder.received) == 2
    assert all(SECRET not in str(received) for received in recorder.received)


async def test_what_cannot_be_reached_was_not_sent(configured: Callable[..., dict[str, Any]]) -> None:
    settings = Settings.model_validate(configured(base_url="http://127.0.0.1:1", retries=0))
    async with CodeMode.from_settings(settings) as service:
        ended = await service.execute("aws.s3.list_buckets()")
        assert "the service behind aws cannot be reached; nothing was sent" in message(ended)
        assert [str(call.state) for call in ended.calls] == ["not started"]


async def test_without_credentials_nothing_is_sent(
    configured: Callable[..., dict[str, Any]], moto: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    async with CodeMode.from_settings(Settings.model_validate(configured(base_url=moto, credentials=[]))) as service:
        refused = await service.execute("aws.s3.list_buckets()")
        assert "the operator has not configured AWS credentials for aws; nothing was sent" in message(refused)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            {"services": ["dynamo"]},
            r"sources\.aws\.services\.0: botocore knows no service 'dynamo'; did you mean 'dynamodb'",
        ),
        ({"credentials": [{"kind": "none"}]}, r"sources\.aws\.credentials: a source of kind aws takes"),
        ({"region": None}, r"sources\.aws\.region: no region is configured"),
        ({"profile": "no-such"}, "no-such"),
    ],
)
async def test_what_is_wrong_with_the_configuration_is_said(
    configured: Callable[..., dict[str, Any]],
    source: dict[str, Any],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(ConfigurationError, match=said):
        await CodeMode.from_settings(Settings.model_validate(configured(**source)), strict=True).__aenter__()


def test_services_are_those_of_aws() -> None:
    with pytest.raises(ValidationError, match="services: only for kind: aws"):
        SourceSettings(location="api.json", services=("s3",))
    with pytest.raises(ValidationError, match="kind: aws needs services"):
        SourceSettings(kind="aws", location="s3")


async def test_keys_of_aws_are_for_aws_alone(configured: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    (tmp_path / "api.json").write_text(json.dumps({"openapi": "3.1.0", "paths": {"/x": {"get": {}}}}))
    credentials = configured()["sources"]["aws"]["credentials"]
    settings = {"sources": {"api": {"location": str(tmp_path / "api.json"), "credentials": credentials}}}
    with pytest.raises(ConfigurationError, match=r"sources\.api\.credentials: credentials of kind aws require"):
        await CodeMode.from_settings(Settings.model_validate(settings), strict=True).__aenter__()


async def test_every_operation_of_a_service_has_a_signature_and_names_it_keeps(
    configured: Callable[..., dict[str, Any]],
) -> None:
    services = ["dynamodb", "iam", "lambda", "cloudwatch", "bedrock-runtime"]
    async with CodeMode.from_settings(Settings.model_validate(configured(services=services))) as service:
        catalog: Catalog = service.catalog
        assert len(catalog) > 350
        for tool in catalog:
            assert tool.parameter_names == tuple(parameter.name for parameter in tool.parameters), tool.id
            assert stubs.signature(tool).startswith(f"{tool.id}(")
        assert catalog.get("aws.dynamodb.scan").details.paging is not None


@pytest.mark.parametrize(
    ("name", "effect"),
    [
        ("DescribeInstances", "read"),
        ("BatchGetItem", "read"),
        ("BatchWriteItem", "write"),
        ("BatchDeleteImage", "destructive"),
        ("TerminateInstances", "destructive"),
        ("AdminDeleteUser", "destructive"),
        ("AdminGetUser", "read"),
        ("ReleaseAddress", "destructive"),
        ("AssumeRole", "write"),
        ("VerifyEmailIdentity", "write"),
        ("TestInvokeMethod", "write"),
        ("ReceiveMessage", "write"),
        ("Batch", "write"),
        ("Query", "read"),
    ],
)
def test_the_verb_says_what_an_operation_does(name: str, effect: str) -> None:
    assert effect_of_verb(name) == effect


async def test_who_has_no_botocore_is_told_the_extra(
    configured: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("codemode.sources.aws.source", "codemode.transports.aws"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "botocore", None)
    monkeypatch.setitem(sys.modules, "botocore.session", None)
    with pytest.raises(ConfigurationError, match=r"kind: aws cannot be used: .*pip install 'codemode\[aws\]'"):
        await CodeMode.from_settings(Settings.model_validate(configured()), strict=True).__aenter__()


def test_sources_check_reports_on_it(configured: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    (tmp_path / "codemode.yaml").write_text(json.dumps(configured(services=["sqs"])))
    checked = CliRunner().invoke(app, ["check", "--config", str(tmp_path / "codemode.yaml")])
    assert checked.exit_code == 0, checked.output
    assert "aws: sqs" in checked.output
