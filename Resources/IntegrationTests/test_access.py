# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may do what: by Orthanc's Lua filter, and what install.md says of proxies and of rules."""

import base64
import http.client
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from pydicom.dataset import Dataset

from conftest import ROOT, MakeSeries, StartOrthanc
from harness import clients
from harness.authorization import serve_profiles
from harness.images import Image
from harness.metrics import INSTANCES, scrape, wait_until
from harness.orthanc import OrthancServer, read_access
from harness.proxy import serve_locations
from harness.transcoding import JPEG_LS, change, list_engines, tune

DOCUMENT = ROOT / "Resources" / "Documentation" / "install.md"
METRICS = "/perf/metrics"
HEALTH = "/perf/health"
PAGE = "/perf/status"
TUNING = "/perf/tuning"
COMPARE = "/perf/transcoding/compare"
USERS = {"alice": "a secret", "viewer": "v", "prometheus": "secret"}


@pytest.fixture(scope="module")
def server(start_for_module: StartOrthanc) -> OrthancServer:
    options = {"AuthenticationEnabled": True, "RegisteredUsers": USERS}
    alice = ("alice", USERS["alice"])
    return start_for_module(lua=[read_access()], options=options, credentials=alice)


def ask(server: OrthancServer, method: str, path: str, user: str, **more: str) -> int:
    credentials = (user, USERS.get(user, "wrong"))
    return server.request(method, path, data="{}", auth=credentials, headers=more).status_code


def read_block(begin: str) -> str:
    """The indented block of the document that begins so."""
    lines = DOCUMENT.read_text("utf-8").split("\n")
    first = lines.index("    " + begin)
    last = next(i for i in range(first, len(lines)) if not lines[i].startswith("    "))
    return "\n".join(line[4:] for line in lines[first:last])


BACKSLASHES = ("\\", r"\\", "%5C", "%5c")
PATHS = [r"\perf", r".\perf", r"x\..\perf", r"x/..\perf"]
WITH_BACKSLASH = [path.replace("\\", mark) for path in PATHS for mark in BACKSLASHES]
WITHOUT = ["/perf", "./perf", "x/../perf", "x/..%2fperf", "%2fperf", "%70erf", "%255Cperf"]

NOT_FOR_METRICS = {
    "GET": "/ /perf /perf/status /perf/history /perf/metrics/ /perf/metrics/..%2f..%2fpatients "
    "/patients /system /app/explorer.html /perf/metrics?_method=DELETE",
    "PUT": "/perf/metrics /perf/tuning",
    "POST": "/instances /tools/find /tools/reset",
    "DELETE": "/perf/tuning",
    "PROPFIND": "/webdav/",
    "OPTIONS": "/instances",
}


def test_a_user_for_metrics_reads_metrics_and_does_nothing_else(server: OrthancServer) -> None:
    own = ("prometheus", USERS["prometheus"])
    for path in (METRICS, "/tools/metrics-prometheus"):
        answer = server.request("GET", path, auth=own)
        assert answer.status_code == 200
        assert "orthanc_" in answer.text
    answer = server.request("GET", HEALTH, auth=own)
    assert answer.status_code in (200, 503)
    assert "Healthy" in answer.json()
    for method, paths in NOT_FOR_METRICS.items():
        for path in paths.split():
            assert ask(server, method, path, "prometheus") in (400, 403), (method, path)
    for path in (METRICS, "/system"):
        for wrong in (("prometheus", "wrong"), None):
            assert requests.get(server.url + path, auth=wrong, timeout=60).status_code == 401


@pytest.mark.parametrize("user", ["alice", "viewer"])
def test_other_users_are_as_they_were(server: OrthancServer, user: str) -> None:
    for path in ("/perf/status", METRICS, "/system", "/patients", "/tools/metrics-prometheus"):
        assert ask(server, "GET", path, user) == 200
    assert ask(server, "POST", "/tools/find", user) != 403
    assert ask(server, "PUT", TUNING, user) == (200 if user == "alice" else 403)
    assert ask(server, "POST", COMPARE, user) == (400 if user == "alice" else 403)


def change_through(url: str, method: str, path: str, user: str = "alice") -> int:
    """The status; the path goes out as it is, which requests would put into order."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    password = base64.b64encode(f"{user}:{USERS[user]}".encode()).decode()
    body = '{"DicomSockets": {"KeepAliveSeconds": 77}}'
    connection.request(method, path, body, {"Authorization": f"Basic {password}"})
    with connection.getresponse() as answer:
        return answer.status


def test_no_way_around_the_filter_leads_to_the_tuning(server: OrthancServer) -> None:
    before = server.get_json(TUNING)
    for method in ("PUT", "DELETE"):
        for perf in [*WITH_BACKSLASH, *WITHOUT]:
            for name in ("tuning", "%74uning", "tuning/", "TUNING"):
                path = f"/{perf}/{name}"
                status = change_through(server.url, method, path, "viewer")
                assert status in (400, 403, 404), (method, path, status)
    for more in ({"X-HTTP-Method-Override": "PUT"}, {"X-Forwarded-User": "alice"}):
        assert ask(server, "PUT", TUNING, "viewer", **more) == 403
        assert ask(server, "GET", TUNING, "viewer", **more) != 500
    assert ask(server, "GET", f"{TUNING}?_method=DELETE", "viewer") in (400, 403)
    assert server.get_json(TUNING) == before
    assert server.get_json("/perf/history")["TuningChanges"] == []


PATIENT = "Zqxjkvpatient"  # found in no program, and in no figure


def name_patient(image: Dataset) -> None:
    image.PatientName = f"{PATIENT}^Name"
    image.PatientID = f"{PATIENT}-ID"
    image.AccessionNumber = f"{PATIENT}-A"
    image.StudyDescription = f"{PATIENT} description"


def test_no_patient_data_is_in_the_log_and_in_any_answer(
    orthanc: OrthancServer, make_series: MakeSeries, tmp_path: Path
) -> None:
    images = []
    for number, image in enumerate(make_series("patient", 3)):
        path = tmp_path / f"{number}.dcm"
        path.write_bytes(change(image.path, name_patient))
        images.append(Image(path, image.sop_instance_uid))

    list_engines(orthanc)
    tune(orthanc, TransferSyntax=JPEG_LS)
    clients.store(orthanc, images[:1])
    tune(orthanc, TransferSyntax="")
    clients.upload(orthanc, [image.read_bytes() for image in images[1:]])
    broken = images[2].read_bytes()[:2000]  # the patient is in it
    assert PATIENT.encode() in broken
    clients.upload(orthanc, [broken])
    assert wait_until(lambda: scrape(orthanc).sum(INSTANCES) == len(images) + 1)
    assert any("Reason" in instance for instance in orthanc.get_json("/perf/instances"))
    assert PATIENT in orthanc.get("/patients?expand").text
    stored = orthanc.get_json("/instances")[0]

    for path, method in sorted(list_routes(orthanc)):
        if method == "GET":
            answer = orthanc.get(path.replace("{id}", stored))
            assert answer.ok, path
            assert PATIENT.lower() not in (answer.text + str(answer.headers)).lower(), path
            assert not any(image.sop_instance_uid in answer.text for image in images), path
    assert PATIENT.lower() not in orthanc.log.lower()


def list_routes(server: OrthancServer) -> set[tuple[str, str]]:
    routes = server.get_json("/perf")
    return {(path, method) for path, methods in routes.items() for method in methods}


def test_the_rules_for_the_authorization_plugin_fit_the_routes(server: OrthancServer) -> None:
    rules = read_rules()
    routes = list_routes(server)
    for path in rules["UncheckedResources"]:
        assert (path, "GET") in routes
    for path, method in routes:
        allowed = [
            permissions
            for verb, pattern, permissions in rules["ExtraPermissions"]
            if verb == method.lower() and re.fullmatch(pattern, path)
        ]
        assert allowed == ["all|view" if method == "GET" else "all|settings"], (method, path)


def read_rules() -> dict[str, Any]:
    return json.loads("{" + read_block('"Authorization" : {') + "}")["Authorization"]


TOKEN = "api-key"
TOKENS = {
    "viewer": ["view"],
    "operator": ["view", "settings"],
    "owner": ["all"],
    "sender": ["send"],
}


@pytest.fixture
def guarded(may_tune: bool, plugin: Path, tmp_path: Path) -> Iterator[OrthancServer]:
    """Orthanc with the authorization plugin and the rules of the document; the owner asks."""
    library = os.environ.get("PERF_AUTHORIZATION")
    if library is None:
        pytest.skip("PERF_AUTHORIZATION is to name the library of Orthanc's authorization plugin")
    with serve_profiles(TOKENS) as address:
        rules = read_rules() | {
            "WebServiceUserProfileUrl": address,
            "TokenHttpHeaders": [TOKEN],
            "TokenGetArguments": [TOKEN],
        }
        server = OrthancServer(
            tmp_path,
            plugins=[plugin, Path(library).resolve()],
            perf={"AllowTuning": may_tune},
            options={"Authorization": rules},
        )
        server.session.headers[TOKEN] = "owner"
        with server:
            yield server


@pytest.mark.parametrize("may_tune", [True, False])
def test_the_authorization_plugin_does_with_the_rules_what_they_are_said_to(
    guarded: OrthancServer, may_tune: bool
) -> None:
    def ask(method: str, path: str, token: str | None) -> requests.Response:
        headers = {TOKEN: token}  # None: without
        body = '{"DicomSockets": {"KeepAliveSeconds": 90}}' if method == "PUT" else "{}"
        return guarded.request(method, path, data=body, headers=headers)

    routes = list_routes(guarded)
    assert wait_until(lambda: ask("GET", HEALTH, "owner").status_code == 200)
    for path, method in sorted(routes):
        codes = {who: ask(method, path, who).status_code for who in [*TOKENS, "stranger", None]}
        is_open = (path, method) in [(METRICS, "GET"), (HEALTH, "GET")]
        for who in ("sender", "stranger", None):
            assert codes[who] == (200 if is_open else 403), (method, path, who, codes)
        for who in ("viewer", "operator", "owner"):
            if method == "GET":
                assert codes[who] == 200, (method, path, who, codes)
            elif who == "viewer" or (path == TUNING and not may_tune):
                assert codes[who] == 403, (method, path, who, codes)
            else:  # a comparison needs more than an empty document
                assert codes[who] == (200 if path == TUNING else 400), (method, path, who, codes)
    for method, path in [("POST", "/perf/status"), ("PUT", METRICS), ("DELETE", "/perf")]:
        assert ask(method, path, "owner").status_code == 403, (method, path)
    assert ask("GET", f"{TUNING}?_method=DELETE", "viewer").status_code in (400, 403)

    # The page, but not what it asks for, which is asked for without a token above
    assert ask("GET", f"/perf?{TOKEN}=viewer", None).status_code == 200
    assert ask("GET", f"/perf?{TOKEN}=stranger", None).status_code == 403

    changes = ask("GET", "/perf/history", "viewer").json()["TuningChanges"]
    assert bool(changes) == may_tune
    by = {"Origin": "RestApi", "Address": "127.0.0.1"}
    assert all(change["By"] == by for change in changes)


def test_the_rules_for_nginx_do_what_they_are_said_to(server: OrthancServer) -> None:
    """For this server, a scraper at 127.0.0.9, and administrators at 127.0.0.4."""
    rules = read_block(r'location ~ "\\\\" {')
    assert "10.0.0.9;" in rules and "10.0.0.0/28;" in rules
    rules = rules.replace("http://127.0.0.1:8042", server.url)
    rules = rules.replace("10.0.0.9;", "127.0.0.9;").replace("10.0.0.0/28;", "127.0.0.4;")
    alice = ("alice", USERS["alice"])

    with serve_locations(rules, server.folder / "proxy") as url:

        def ask_from(source: str, method: str, path: str, **more: object) -> int:
            with clients.open_session(source) as session:
                address = url + "/pacs" + path
                return session.request(method, address, timeout=60, **more).status_code

        scraper, desk, administrator = "127.0.0.9", "127.0.0.3", "127.0.0.4"
        assert ask_from(scraper, "GET", METRICS) == 200
        assert ask_from(scraper, "GET", f"{METRICS}?_method=DELETE") == 403
        assert ask_from(scraper, "PUT", METRICS, data="{}") == 403
        assert ask_from(desk, "GET", METRICS) == 403
        for source, path in ((scraper, "/patients"), (scraper, PAGE), (desk, PAGE)):
            assert ask_from(source, "GET", path) == 401
        for path in ("/perf", PAGE, "/patients"):
            assert ask_from(desk, "GET", path, auth=alice) == 200
        assert ask_from(desk, "PUT", TUNING, data="{}", auth=alice) == 403
        assert ask_from(desk, "GET", f"{TUNING}?_method=DELETE", auth=alice) == 400

        own = {"Origin": url}
        assert ask_from(administrator, "PUT", TUNING, data="{}", auth=alice, headers=own) == 200
        assert ask_from(administrator, "DELETE", TUNING, auth=alice) == 200

        before = server.get_json(TUNING)
        for method in ("PUT", "DELETE"):
            for perf in [*WITH_BACKSLASH, *WITHOUT]:
                status = change_through(url, method, f"/pacs/{perf}/tuning")
                refused = (400,) if perf in WITH_BACKSLASH else (403, 404)
                assert status in refused, (method, perf, status)
        assert server.get_json(TUNING) == before
