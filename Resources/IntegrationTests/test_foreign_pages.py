# SPDX-License-Identifier: GPL-3.0-or-later
"""What a page of someone else's can make a browser send to /perf: it changes nothing.

UnitTests/Rest/RestRouterTest.cpp has all kinds of pages; here is what Orthanc makes of requests.
"""

import json
import subprocess

import pytest

from harness.orthanc import OrthancServer

TUNING = "/perf/tuning"
STOCK = json.dumps({"DicomSockets": {"Preset": "stock"}})


def curl(server: OrthancServer, path: str, *arguments: str) -> int:
    """The status that curl gets, with the plainest of requests unless told otherwise."""
    command = ["curl", "--silent", "--globoff", "--output", "/dev/null", "--write-out"]
    command += ["%{http_code}", "--noproxy", "*", *arguments, server.url + path]
    return int(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)


@pytest.fixture
def tuned(server: OrthancServer) -> OrthancServer:
    """Orthanc whose tuning is not that of its configuration."""
    server.tune(DicomSockets={"KeepAliveSeconds": 90})
    return server


def is_as_it_was(server: OrthancServer) -> bool:
    sockets = server.get_json(TUNING)["DicomSockets"]
    return (sockets["KeepAliveSeconds"], sockets["TcpNoDelay"]) == (90, True)


def test_an_address_or_a_header_with_a_method_in_it_changes_nothing(tuned: OrthancServer) -> None:
    for path in (TUNING, TUNING + "/", "/perf//tuning"):
        for name in ("_method", "_METHOD", "%5Fmethod", "_method=PUT&_method", "limit=1&_method"):
            for method in ("DELETE", "delete", "PUT", "POST", ""):
                assert curl(tuned, f"{path}?{name}={method}") in (400, 411), (path, name, method)
    for method in ("GET", "POST", "PUT", "DELETE"):
        for override in ("DELETE", "put"):
            arguments = ["--request", method, "--header", f"X-HTTP-Method-Override: {override}"]
            assert curl(tuned, TUNING, *arguments, "--data", STOCK) == 400, (method, override)
    assert is_as_it_was(tuned)


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:3000"},
        {"Origin": "http://127.0.0.1:3000"},
        {"Origin": "null"},
        {"Origin": ""},
    ],
    ids=str,
)
def test_a_foreign_page_changes_nothing_and_is_told_nothing(
    tuned: OrthancServer, headers: dict[str, str]
) -> None:
    requests = (("PUT", TUNING, STOCK), ("DELETE", TUNING, None))
    for method, path, body in (*requests, ("POST", "/perf/transcoding/compare", "{}")):
        answer = tuned.request(method, path, data=body, headers=headers)
        assert answer.status_code == 403
        assert "page" in answer.json()["Message"]
    answer = tuned.request("OPTIONS", TUNING, headers=headers)
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert is_as_it_was(tuned)


def test_the_own_page_and_programs_change_the_tuning(tuned: OrthancServer) -> None:
    for headers in (
        {},
        {"Origin": tuned.url},
        {"Sec-Fetch-Site": "same-origin", "Origin": "https://pacs.example", "Host": "orthanc:8042"},
        {"Origin": "https://pacs.example", "Host": "pacs.example"},
        {"Origin": "http://pacs.example", "Host": "orthanc", "X-Forwarded-Host": "pacs.example"},
        {"Origin": "http://[::1]:8042", "Host": "[::1]:8042"},
    ):
        assert tuned.request("PUT", TUNING, data="{}", headers=headers).status_code == 200, headers
    for kind in ("application/x-www-form-urlencoded", "application/json", "text/plain"):
        header = ["--header", f"Content-Type: {kind}"]
        assert curl(tuned, TUNING, "--request", "PUT", *header, "--data", STOCK) == 200
    assert tuned.get_json(TUNING)["DicomSockets"]["Preset"] == "stock"
