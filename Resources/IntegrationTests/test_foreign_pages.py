# SPDX-License-Identifier: GPL-3.0-or-later
"""What a page of someone else's can make a browser send to /perf: it changes nothing."""

import json
import subprocess

import pytest
import requests

from harness.orthanc import OrthancServer

TUNING = "/perf/tuning"
COMPARE = "/perf/transcoding/compare"
STOCK = json.dumps({"DicomSockets": {"Preset": "stock"}})
KEEP_ALIVE = {"DicomSockets": {"KeepAliveSeconds": 90}}


def curl(server: OrthancServer, path: str, *arguments: str) -> int:
    """The status that curl gets, with the plainest of requests unless told otherwise."""
    command = ["curl", "--silent", "--globoff", "--output", "/dev/null", "--write-out"]
    command += ["%{http_code}", "--noproxy", "*", *arguments, server.url + path]
    return int(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)


@pytest.fixture
def tuned(server: OrthancServer) -> OrthancServer:
    """Orthanc whose tuning is not that of its configuration."""
    server.request("DELETE", TUNING).raise_for_status()
    server.request("PUT", TUNING, json=KEEP_ALIVE).raise_for_status()
    return server


def is_as_it_was(server: OrthancServer) -> bool:
    sockets = server.get_json(TUNING)["DicomSockets"]
    return (sockets["KeepAliveSeconds"], sockets["TcpNoDelay"]) == (90, True)


@pytest.mark.parametrize(
    "query",
    [
        "_method=DELETE",
        "_method=delete",
        "_method=PUT",
        "_method=POST",
        "_METHOD=DELETE",
        "%5Fmethod=DELETE",
        "_method=DELETE&_method=GET",
        "_method=",
        "limit=1&_method=DELETE",
    ],
)
@pytest.mark.parametrize("path", [TUNING, TUNING + "/", "/perf//tuning"])
def test_an_address_with_a_method_in_it_changes_nothing(
    tuned: OrthancServer, path: str, query: str
) -> None:
    assert curl(tuned, f"{path}?{query}") in (400, 411)
    assert is_as_it_was(tuned)


@pytest.mark.parametrize(
    ("method", "override"),
    [("GET", "DELETE"), ("POST", "DELETE"), ("POST", "put"), ("PUT", "PUT"), ("DELETE", "DELETE")],
)
def test_a_header_with_a_method_in_it_changes_nothing(
    tuned: OrthancServer, method: str, override: str
) -> None:
    arguments = ["--request", method, "--header", f"X-HTTP-Method-Override: {override}"]
    assert curl(tuned, TUNING, *arguments, "--data", STOCK) == 400
    assert is_as_it_was(tuned)


FOREIGN = [
    {"Sec-Fetch-Site": "cross-site", "Origin": "https://elsewhere.example"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:3000"},
    {"Origin": "http://elsewhere.example"},
    {"Origin": "http://127.0.0.1:3000"},
    {"Origin": "http://127.0.0.1"},
    {"Origin": "http://127.0.0.1.elsewhere.example:8042"},
    {"Origin": "null"},
    {"Origin": ""},
    {"Origin": "file://"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [("PUT", TUNING, STOCK), ("DELETE", TUNING, None), ("POST", COMPARE, "{}")],
)
def test_a_foreign_page_changes_nothing(
    tuned: OrthancServer, headers: dict[str, str], method: str, path: str, body: str | None
) -> None:
    answer = tuned.request(method, path, data=body, headers=headers)
    assert answer.status_code == 403
    assert "page" in answer.json()["Message"]
    assert is_as_it_was(tuned)


def get_own_pages(server: OrthancServer) -> list[dict[str, str]]:
    """The headers of a page of this server's, as it is, and behind proxies of many kinds."""
    return [
        {},
        {"Sec-Fetch-Site": "none"},
        {"Origin": server.url},
        {"Sec-Fetch-Site": "same-origin", "Origin": "https://pacs.example", "Host": "orthanc:8042"},
        {"Origin": "https://pacs.example", "Host": "pacs.example"},
        {"Origin": "https://pacs.example", "Host": "PACS.example:443"},
        {"Origin": "http://pacs.example:8080", "Host": "pacs.example"},
        {
            "Origin": "http://pacs.example",
            "Host": "orthanc:8042",
            "X-Forwarded-Host": "pacs.example",
        },
        {"Origin": "http://[::1]:8042", "Host": "[::1]:8042"},
    ]


def test_the_own_page_and_programs_change_the_tuning(tuned: OrthancServer) -> None:
    for headers in get_own_pages(tuned):
        assert tuned.request("PUT", TUNING, data="{}", headers=headers).status_code == 200, headers


def test_what_curl_sends_is_taken_whatever_it_is_called(tuned: OrthancServer) -> None:
    for kind in ("application/x-www-form-urlencoded", "application/json", "text/plain"):
        header = ["--header", f"Content-Type: {kind}"]
        assert curl(tuned, TUNING, "--request", "PUT", *header, "--data", STOCK) == 200
    assert tuned.get_json(TUNING)["DicomSockets"]["Preset"] == "stock"


def test_a_foreign_page_may_be_refused_but_never_told_anything(tuned: OrthancServer) -> None:
    answer: requests.Response = tuned.request(
        "OPTIONS", TUNING, headers={"Origin": "http://elsewhere.example"}
    )
    assert "Access-Control-Allow-Origin" not in answer.headers
