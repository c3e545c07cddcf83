"""Names depend on what they name, never on the order in the document."""

from __future__ import annotations

import keyword
import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codemode.catalog.identifiers import identifier, parameter_name, parameter_names, snake, type_name
from codemode.catalog.names import LARGEST_GROUP, OperationKey, long_name, plain_ids, tool_ids
from codemode.catalog.shortening import LONGEST_ID


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("actions/list-workflow-runs-for-repo", "actions_list_workflow_runs_for_repo"),
        ("getAPIResources", "get_api_resources"),
        ("droplets_destroy_byTag", "droplets_destroy_by_tag"),
        ("PostInvoicesInvoice", "post_invoices_invoice"),
        ("DNS Records for a Zone", "dns_records_for_a_zone"),
        ("listOAuth2Apps", "list_oauth2_apps"),
        ("admin.admin.GetAdmin", "admin_admin_get_admin"),
        ("Übersicht der Straßen", "ubersicht_der_strassen"),
        ("  ", ""),
    ],
)
def test_snake_case_finds_the_words(text: str, expected: str) -> None:
    assert snake(text) == expected


@pytest.mark.parametrize(
    ("method", "path", "operation_id", "tag", "expected"),
    [
        ("GET", "/repos/{o}/{r}/actions/runs", "actions/list-workflow-runs-for-repo", "actions",
         "api.actions.list_workflow_runs_for_repo"),
        ("POST", "/conversations.create", "conversations_create", "conversations", "api.conversations.create"),
        ("GET", "/clients", "get_clients_list", "clients", "api.clients.get_clients_list"),
        ("POST", "/v1/invoices/{invoice}", "PostInvoicesInvoice", "", "api.invoices.update"),
        ("PUT", "/api/v1/pods/{name}", "replaceCoreV1NamespacedPod", "core_v1", "api.core_v1.replace_namespaced_pod"),
        ("GET", "/flows/{id}", "read_flow_flows__id__get", "Flows", "api.flows.read_flow"),
        ("GET", "/users/{id}/files", "", "", "api.users.list_files"),
        ("DELETE", "/users/{id}", "", "", "api.users.delete"),
        ("GET", "/users", "", "", "api.users.list"),
        ("GET", "/users/{id}", "", "", "api.users.get"),
        ("GET", "/x", "import", "lambda", "api.lambda_.import_"),
        ("GET", "/x", "_private", "_hidden", "api.hidden.private"),
        ("GET", "/", "2fa", "", "api.core.n2fa"),
    ],
)  # fmt: skip
def test_ids_come_from_tag_and_operation_id_else_from_the_path(
    method: str, path: str, operation_id: str, tag: str, expected: str
) -> None:
    operation = OperationKey(method, path, operation_id, tag)
    assert tool_ids("api", [operation]) == {operation.key: expected}


def test_operations_that_want_the_same_id_all_get_another_one() -> None:
    same = [OperationKey("GET", f"/apis/{name}/", "getAPIResources", "apis") for name in ("apps", "batch")]
    assert set(tool_ids("k", same).values()) == {"k.apis.list_apps", "k.apis.get_batch"}


def test_an_id_that_would_be_too_long_keeps_its_beginning_and_end_and_its_whole_name_is_known() -> None:
    name = "actions/get-private-repo-fork-pr-workflows-settings-repository"
    operation = OperationKey("GET", "/repos/{o}/{r}/actions/permissions/fork-pr", name, "actions")
    id_ = tool_ids("github", [operation])[operation.key]
    assert id_ == "github.actions.get_private_repo_fork_pr_workflows_settings_repo"
    assert long_name("github", id_, operation) == (
        "github.actions.get_private_repo_fork_pr_workflows_settings_repository"
    )
    short = OperationKey("GET", "/x", "x", "y")
    assert long_name("a", "a.y.x", short) == ""


def test_an_id_that_was_given_is_kept_and_never_given_to_another() -> None:
    old = OperationKey("GET", "/users", "list_users", "users")
    new = OperationKey("GET", "/people", "list_people", "users")
    given_before = {old.key: "api.users.list_people"}
    ids = tool_ids("api", [new, old], known_ids=given_before)
    assert ids[old.key] == "api.users.list_people"
    assert ids[new.key] != "api.users.list_people"


_OPERATIONS = st.lists(
    st.builds(
        OperationKey,
        method=st.sampled_from(["GET", "POST", "DELETE"]),
        path=st.from_regex(r"(/[a-z{}é.:_-]{1,12}){1,4}", fullmatch=True),
        operation_id=st.text(max_size=90),
        tag=st.sampled_from(["", "a", "class", "A b", "x.y", "🏋"]),
    ),
    max_size=30,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine
@given(operations=_OPERATIONS, seed=st.integers(0, 9))
def test_ids_are_legal_distinct_short_and_independent_of_the_order(operations: list[OperationKey], seed: int) -> None:
    ids = tool_ids("api", operations)
    shuffled = list(operations)
    random.Random(seed).shuffle(shuffled)  # noqa: S311 -- an order, no secret
    distinct = {operation.key: operation for operation in operations}
    if len(distinct) == len(operations):
        assert tool_ids("api", shuffled) == ids
    assert len(set(ids.values())) == len(ids) == len(distinct)
    for id_ in ids.values():
        assert len(id_) <= LONGEST_ID
        for part in id_.split("."):
            assert part.isidentifier()
            assert not keyword.iskeyword(part)
            assert not part.startswith("_")


@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        ("per_page", "per_page"),
        ("gracePeriodSeconds", "gracePeriodSeconds"),
        ("from", "from_"),
        ("filter[status]", "filter_status"),
        ("EndTime<", "EndTime_lt"),
        ("EndTime>", "EndTime_gt"),
        ("$top", "top"),
        ("@id", "id"),
        ("files[0]", "files_0"),
        ("one-shot", "one_shot"),
        ("{field_name}", "field_name"),
        ("X-Request-Tag", "X_Request_Tag"),
        ("2fa", "n2fa"),
        ("[]", "value"),
        ("größe", "grosse"),
        ("Łódź-ID", "Lodz_ID"),
        ("名前", "ming_qian"),
        ("…", "value"),
    ],
)
def test_wire_names_become_keyword_arguments(wire: str, expected: str) -> None:
    assert parameter_name(wire) == expected


def test_colliding_parameters_get_their_place_as_prefix() -> None:
    pairs = [("path", "path"), ("query", "path"), ("query", "dryRun"), ("header", "id"), ("body_field", "dryRun")]
    assert parameter_names(pairs) == ("path", "query_path", "dryRun", "id", "body_dryRun")


def test_a_valid_wire_name_keeps_its_name_against_a_changed_one() -> None:
    assert parameter_names([("query", "@id"), ("query", "id")]) == ("query_id", "id")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("full-repository", "FullRepository"), ("io.k8s.Pod", "IoK8sPod"), ("404-error", "T404Error"), ("--", "")],
)
def test_type_names_are_in_capitals(text: str, expected: str) -> None:
    assert type_name(text) == expected


@given(st.text())
def test_any_text_gives_a_legal_identifier(text: str) -> None:
    name = identifier(text)
    assert name.isidentifier()
    assert not keyword.iskeyword(name)
    assert not name.startswith("_")


def _heap(paths: list[str], tag: str = "") -> list[OperationKey]:
    return [OperationKey("GET", path, f"op{index}", tag) for index, path in enumerate(paths)]


def _sizes(operations: list[OperationKey]) -> Counter[str]:
    return Counter(id_.rpartition(".")[0] for id_ in tool_ids("api", operations).values())


def test_a_tag_of_hundreds_is_divided_by_what_follows_in_its_paths() -> None:
    paths = [f"/repos/{{owner}}/{part}/{index}" for part in ("issues", "pulls", "tags") for index in range(70)]
    assert _sizes(_heap([*paths, "/repos/{owner}"], tag="repos")) == {
        "api.repos.issues": 70, "api.repos.pulls": 70, "api.repos.tags": 70, "api.repos": 1,
    }  # fmt: skip


def test_what_nearly_all_paths_share_divides_nothing() -> None:
    paths = [f"/subscriptions/{{id}}/providers/web/{part}/{index}" for part in "ab" for index in range(60)]
    operations = [*_heap([*paths, "/other"], tag="web"), *_heap(["/else"], tag="more")]
    assert _sizes(operations) == {"api.web.a": 60, "api.web.b": 60, "api.web": 1, "api.more": 1}


def test_operations_of_one_path_are_divided_by_what_they_are_about() -> None:
    operations = [
        OperationKey("POST", f"/#Action={verb}{noun}{kind}", f"{verb}{noun}{kind}")
        for verb in ("Describe", "Create", "Delete")
        for noun in ("Vpc", "Image", "Volume")
        for kind in ("", "Tags", "Groups", "Attribute", "Status", "Owners", "Users", "Limits", "Options", "Events")
    ]
    assert _sizes(operations) == {"api.vpc": 30, "api.image": 30, "api.volume": 30}


def test_no_group_has_hundreds_of_siblings_whatever_the_tags() -> None:
    paths = [f"/a{index % 13}/b{index % 29}/c{index}" for index in range(700)]
    for tag in ("", "one", "用户"):
        assert max(_sizes(_heap(paths, tag)).values()) <= LARGEST_GROUP


@pytest.mark.parametrize(
    ("method", "path", "operation_id", "expected"),
    [
        ("POST", "/v1/charges/{charge}/refund", "PostChargesChargeRefund", "api.charges.create_refund"),
        ("GET", "/v1/customers/{customer}/sources/{id}", "GetCustomersCustomerSourcesId", "api.customers.get_source"),
        ("DELETE", "/v3/projects/{id}/notes/{note}", "deleteV3ProjectsIdNotesNote", "api.projects.delete_note"),
        ("GET", "/péages", "list-péages", "api.peages.list_peages"),
    ],
)
def test_an_operation_id_that_repeats_the_path_is_said_as_a_person_would(
    method: str, path: str, operation_id: str, expected: str
) -> None:
    operation = OperationKey(method, path, operation_id)
    assert tool_ids("api", [operation]) == {operation.key: expected}


def test_operation_ids_that_differ_in_case_alone_get_names_of_their_own() -> None:
    operations = [
        OperationKey("GET", "/users/{id}", "getUser", "users"),
        OperationKey("GET", "/me", "GetUser", "users"),
        OperationKey("POST", "/v1/charges/{charge}/refund", "PostChargesChargeRefund"),
        OperationKey("POST", "/v1/charges/{charge}/refunds", "PostChargesChargeRefunds"),
    ]
    assert tool_ids("api", operations) == {
        "GET /users/{id}": "api.users.get",
        "GET /me": "api.users.get_me",
        "POST /v1/charges/{charge}/refund": "api.charges.post_charges_charge_refund",
        "POST /v1/charges/{charge}/refunds": "api.charges.post_charges_charge_refunds",
    }


def test_what_has_no_operation_id_is_told_apart_by_its_methods() -> None:
    operations = [OperationKey(method, "/files/{path}", "", "files") for method in ("GET", "POST", "PATCH", "PUT")]
    assert tool_ids("api", operations) == {
        "GET /files/{path}": "api.files.get",
        "POST /files/{path}": "api.files.create_by_path",
        "PATCH /files/{path}": "api.files.update_by_path",
        "PUT /files/{path}": "api.files.replace",
    }


def test_an_operation_called_like_the_digest_of_another_gets_an_id_of_its_own() -> None:
    twice = [("queries", "getPay"), ("queries", "get_pay")]
    first = plain_ids("s", twice)
    third = first["queries/getPay"].rpartition(".")[2]
    ids = plain_ids("s", [*twice, ("queries", third)])
    assert ids[f"queries/{third}"] == f"s.queries.{third}"
    assert len(set(ids.values())) == 3
    assert plain_ids("s", [("queries", third), *twice[::-1]]) == ids

    same = [OperationKey("GET", path, "pay", "t") for path in ("/a/{x}", "/a/{x}#b")]
    made = tool_ids("s", same)
    taken = [OperationKey("GET", f"/taken{n}", id_.rpartition(".")[2], "t") for n, id_ in enumerate(made.values())]
    assert len(set(tool_ids("s", [*same, *taken]).values())) == 4


def test_long_names_that_shorten_to_the_same_are_made_of_verb_and_path() -> None:
    paths = {
        "/international-payment-consents": "International Payments",
        "/international-payment-consents/{ConsentId}": "International Payments",
        "/international-scheduled-payment-consents": "International Scheduled Payments",
        "/international-scheduled-payment-consents/{ConsentId}": "International Scheduled Payments",
    }
    operations = [
        OperationKey(
            method, path, f"{method.title()}{path.title().translate(dict.fromkeys(map(ord, '/-{}')))}Resource", tag
        )
        for path, tag in paths.items()
        for method in (("GET",) if path.endswith("}") else ("POST",))
    ]
    ids = tool_ids("obuk_payments", operations)
    assert {key: id_.partition(".")[2] for key, id_ in ids.items()} == {
        "POST /international-payment-consents": "international_payments.create_payment_consent",
        "GET /international-payment-consents/{ConsentId}": "international_payments.get_consent",
        "POST /international-scheduled-payment-consents": "international_scheduled_payments.create_consent",
        "GET /international-scheduled-payment-consents/{ConsentId}": "international_scheduled_payments.get_consent",
    }


def test_a_name_without_latin_letters_is_transliterated_if_nothing_else_names_it() -> None:
    assert identifier("获取用户") == "huo_qu_yong_hu"
    assert identifier("класс") == "klass"
    assert identifier("用户id") == "id"  # as before
    assert identifier("…", "tool") == "tool"
    operations = [OperationKey("GET", "/users", "获取用户列表", "用户"), OperationKey("GET", "/订单", "获取订单")]
    assert set(tool_ids("api", operations).values()) == {"api.users.list", "api.ding_dan.list"}
