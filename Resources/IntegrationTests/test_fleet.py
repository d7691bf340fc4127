# SPDX-License-Identifier: GPL-3.0-or-later
"""Several Orthancs on one PostgreSQL and one directory, HAProxy before them, Prometheus beside.

All of it by the files of Resources/Fleet, in which only addresses are replaced. Beside two of this
machine's Orthanc, one of this machine's and one of each root file system of PERF_ROOTS that has
Debian's orthanc-postgresql.
"""

import base64
import json
import os
import platform
import re
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from conftest import ROOT, AddRow, MakeSeries
from harness.acknowledged import AcknowledgedLoad, StoreCheck
from harness.clients import get_output, make_store_command, open_session
from harness.fleet import FLEET
from harness.haproxy import HaProxyServer
from harness.images import Image
from harness.metrics import BYTES, IN_FLIGHT, INSTANCES, scrape, wait_until
from harness.numbered import NumberedImages
from harness.orthanc import ORTHANC, SYSTEM_PLUGINS, OrthancServer, _make_storage, read_access
from harness.portable import OTHER_ROOTS, enter, find_archive, unpack
from harness.postgresql import POSTGRESQL_PLUGIN, PostgreSqlServer
from harness.process import run
from harness.prometheus import RULES, PrometheusServer, adapt_rules
from harness.sockets import read_user_timeouts
from harness.tuning import tune_sockets

DEBIANS = Path("/etc/orthanc")
UNPACKED = ROOT / "build/orthanc-plugins/etc/orthanc"  # by setup.sh: not installed
NAMES = ["orthanc-a", "orthanc-b"]
SENDERS = 16
CHECK = ("prometheus", "figures")
OPERATOR = ("alice", "a secret")

BEFORE_KILL = 400  # instances that are acknowledged


@dataclass
class Fleet:
    servers: dict[str, OrthancServer]
    database: PostgreSqlServer
    haproxy: HaProxyServer
    prometheus: PrometheusServer

    def sum(self, name: str, **labels: str) -> float:
        """Of all servers, as they say themselves."""
        return sum(scrape(server).sum(name, **labels) for server in self.servers.values())

    def count_stored(self) -> dict[str, float]:
        servers = self.servers
        return {name: scrape(servers[name]).sum(INSTANCES, outcome="stored") for name in servers}

    def ask(self, expression: str) -> dict[str, float]:
        """Prometheus' answer, by the server's name, or "" for what is not about one."""
        found = self.prometheus.query(expression)
        return {row["metric"].get("instance", ""): float(row["value"][1]) for row in found}


def read_configuration() -> dict[str, Any]:
    text = (FLEET / "orthanc.json").read_text("utf-8")
    return json.loads(re.sub(r"(?m)^\s*//.*$", "", text))


def make_options(folder: Path, database: PostgreSqlServer) -> dict[str, Any]:
    options = read_configuration()
    for key in ("HttpPort", "DicomPort", "LuaScripts", "Plugins"):
        del options[key]
    uri: str = options["PostgreSQL"]["ConnectionUri"]
    own = f"postgresql://postgres@127.0.0.1:{database.port}/postgres?{uri.partition('?')[2]}"
    return options | {
        "StorageDirectory": str(folder / "images"),
        "PostgreSQL": options["PostgreSQL"] | {"ConnectionUri": own},
        "RemoteAccessAllowed": False,
    }


def find_postgresql_plugin(root: str) -> Path:
    return POSTGRESQL_PLUGIN if root == "/" else SYSTEM_PLUGINS / POSTGRESQL_PLUGIN.name


def start(
    folder: Path, database: PostgreSqlServer, name: str, plugin: Path, root: str = "/"
) -> OrthancServer:
    (folder / name).mkdir(exist_ok=True)
    return OrthancServer(
        folder / name,
        plugins=[plugin, find_postgresql_plugin(root)],
        options=make_options(folder, database),
        environment={
            "ORTHANC_NAME": name,
            "ORTHANC_ALICE": OPERATOR[1],
            "ORTHANC_PROMETHEUS": CHECK[1],
        },
        launcher=enter(platform.machine(), root, folder),
        credentials=OPERATOR,
        lua=[read_access()],
    )


def list_jobs(
    folder: Path, servers: dict[str, OrthancServer], haproxy: HaProxyServer
) -> list[dict[str, Any]]:
    (folder / "orthanc-password").write_text(CHECK[1])
    jobs = yaml.safe_load((FLEET / "prometheus.yml").read_text("utf-8"))["scrape_configs"]
    for job in jobs:
        if "basic_auth" in job:
            job["basic_auth"]["password_file"] = str(folder / "orthanc-password")
        for group in job["static_configs"]:
            name = group.get("labels", {}).get("instance")
            port = servers[name].http_port if name else haproxy.metrics_port
            group["targets"] = [f"127.0.0.1:{port}"]
    return jobs


@pytest.fixture(
    scope="module", params=["/", *OTHER_ROOTS], ids=lambda root: Path(root).name or "here"
)
def fleet(
    request: pytest.FixtureRequest, plugin: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    root: str = request.param
    if not Path(root, *find_postgresql_plugin(root).parts[1:]).is_symlink():
        pytest.skip(f"{root} has no orthanc-postgresql")
    folder = tmp_path_factory.mktemp("fleet")
    other = plugin
    if root != "/":
        archive = find_archive(platform.machine())
        if archive is None:
            pytest.skip("no archive in build/portable for the Orthanc in another root")
        other = unpack(archive, platform.machine(), folder) / "libOrthancPerf.so"
    # The first folders are there before two servers would make and remove the same ones at once
    _make_storage(folder / "images")
    with ExitStack() as stack:
        database = stack.enter_context(PostgreSqlServer())
        servers = {
            "orthanc-a": stack.enter_context(start(folder, database, "orthanc-a", plugin)),
            "orthanc-b": stack.enter_context(start(folder, database, "orthanc-b", other, root)),
        }
        haproxy = stack.enter_context(HaProxyServer(folder, servers, CHECK))
        jobs = list_jobs(folder, servers, haproxy)
        prometheus = stack.enter_context(PrometheusServer(folder, jobs, adapt_rules(folder)))
        yield Fleet(servers, database, haproxy, prometheus)


# ---- The files as they are


def test_haproxy_finds_its_configuration_correct() -> None:
    command = ["env", "PERF_CHECK=eA==", "haproxy", "-c", "-f", FLEET / "haproxy.cfg"]
    assert "WARNING" not in get_output(command)


@pytest.mark.skipif(not DEBIANS.exists(), reason="Orthanc is not Debian's")
@pytest.mark.parametrize("left", ["", "credentials.json", "postgresql.json"])
def test_it_replaces_three_of_debians_files(left: str, tmp_path: Path) -> None:
    """With one of the three left as it is, Orthanc says why it does not start."""
    for path in [*DEBIANS.glob("*.json"), UNPACKED / "postgresql.json"]:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    for name in {"credentials.json", "postgresql.json"} - {left}:
        (tmp_path / name).write_text("{}")
    text = (FLEET / "orthanc.json").read_text("utf-8")
    text = text.replace("/usr/share/orthanc/plugins", f"{tmp_path}/none")
    (tmp_path / "orthanc.json").write_text(text.replace("/srv/", f"{tmp_path}/"), "utf-8")
    # Once it has read all of them, it misses its name, and ends in any case
    environment = {name: os.environ[name] for name in os.environ.keys() - {"ORTHANC_NAME"}}
    finished = run([ORTHANC, tmp_path], env=environment)
    assert ("in 2 different configuration files" in finished.stderr) == bool(left)
    assert ('"DatabaseServerIdentifier" cannot be empty' in finished.stderr) == (not left)


def test_systemd_does_not_start_it_without_a_password() -> None:
    unit = (FLEET / "orthanc.service.conf").read_text("utf-8")
    (command,) = re.findall(r"ExecStartPre=/bin/sh -c '(.+)'", unit)
    variables = (FLEET / "orthanc-fleet.env").read_text("utf-8")
    names = re.findall(r"(?m)^([A-Z_]+)='?[^=\s]+$", variables)
    assert len(names) == 4
    assert set(re.findall(r"\$\{(\w+)\}", (FLEET / "orthanc.json").read_text("utf-8"))) < {*names}
    environment = dict.fromkeys(names, "x")

    def start(environment: dict[str, str]) -> int:
        text = command.replace("$$", "$")  # systemd.service(5)
        return run(["/bin/sh", "-c", text], env=environment).returncode

    assert start(environment) == 0
    for name in names:
        assert start({**environment, name: ""}) != 0
        assert start({key: environment[key] for key in names if key != name}) != 0


def test_promtool_finds_the_configuration_of_prometheus_correct(tmp_path: Path) -> None:
    for path in (FLEET / "prometheus.yml", RULES / "recording.yml", RULES / "alerting.yml"):
        text = path.read_text("utf-8").replace("/etc/prometheus/", f"{tmp_path}/")
        (tmp_path / path.name).write_text(text, "utf-8")
    (tmp_path / "orthanc-password").write_text("secret")
    get_output(["promtool", "check", "config", tmp_path / "prometheus.yml"])


def test_all_files_are_of_the_same_servers() -> None:
    jobs = yaml.safe_load((FLEET / "prometheus.yml").read_text("utf-8"))["scrape_configs"]
    groups = next(job for job in jobs if job["job_name"] == "orthanc")["static_configs"]
    scraped = {group["labels"]["instance"]: group["targets"][0] for group in groups}
    balanced = re.findall(r"server (\S+) (\S+:8042) ", (FLEET / "haproxy.cfg").read_text("utf-8"))
    asked = re.findall(r'(?m)^(\S+) = "http://(\S+)"$', (FLEET / "fleet.toml").read_text())
    assert scraped == dict(balanced) == dict(asked)
    assert list(scraped) == NAMES
    connections = read_configuration()["PostgreSQL"]["IndexConnectionsCount"]
    assert connections * len(NAMES) <= 97  # of PostgreSQL's 100, 3 are for superusers


def read_kubernetes() -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """All that there is, and what describes the pods."""
    documents = [*yaml.safe_load_all((FLEET / "kubernetes.yaml").read_text("utf-8"))]
    (pods,) = [found["spec"] for found in documents if found["kind"] == "StatefulSet"]
    return documents, pods


def test_kubernetes_has_the_settings_of_orthanc_json_and_opens_nothing_to_the_internet() -> None:
    """As a cloud's load balancer would, unless it is told who may come."""
    documents, pods = read_kubernetes()
    (container,) = pods["template"]["spec"]["containers"]
    known = read_configuration()
    environment = {entry["name"]: entry.get("value") for entry in container["env"]}
    (script,) = json.loads(environment["ORTHANC__LUA_SCRIPTS"])
    assert Path(script).name == Path(known["LuaScripts"][0]).name == "access.lua"
    assert environment["ORTHANC__POSTGRESQL__LOCK"] == "false"
    uri = environment["ORTHANC__POSTGRESQL__CONNECTION_URI"]
    assert uri.partition("?")[2] == known["PostgreSQL"]["ConnectionUri"].partition("?")[2]
    connections = int(environment["ORTHANC__POSTGRESQL__INDEX_CONNECTIONS_COUNT"])
    assert pods["replicas"] * connections <= 97

    services = [found["spec"] for found in documents if found["kind"] == "Service"]
    outside = [service for service in services if service.get("type") == "LoadBalancer"]
    assert len(outside) == 2
    for service in outside:
        ranges = service["loadBalancerSourceRanges"]
        assert ranges and all(ip_network(text).is_private for text in ranges)


def test_prometheus_finds_pods_by_their_annotations(fleet: Fleet, tmp_path: Path) -> None:
    """By what Kubernetes would tell it of two pods, one target for each of their ports, and of one
    of somebody else's: Debian's Prometheus is made without asking Kubernetes itself."""
    _, pods = read_kubernetes()
    given = pods["template"]["metadata"]["annotations"]

    def tell(pod: str, app: str, server: OrthancServer) -> dict[str, Any]:
        own = given | {"prometheus.io/port": str(server.http_port)}
        labels = {"name": pod, "ip": "127.0.0.1", "label_app": app}
        labels |= {f"annotation_{re.sub(r'[^a-z]', '_', name)}": own[name] for name in own}
        told = {f"__meta_kubernetes_pod_{name}": value for name, value in labels.items()}
        return {"targets": ["127.0.0.1:4242", "127.0.0.1:8042"], "labels": told}

    servers = list(fleet.servers.values())
    jobs = yaml.safe_load((FLEET / "prometheus-kubernetes.yml").read_text("utf-8"))
    (job,) = [job for job in jobs["scrape_configs"] if "kubernetes_sd_configs" in job]
    del job["kubernetes_sd_configs"]
    (tmp_path / "password").write_text(CHECK[1])
    job["basic_auth"]["password_file"] = str(tmp_path / "password")
    app = pods["template"]["metadata"]["labels"]["app"]
    job |= {"job_name": "orthanc", "scrape_interval": "1s"}
    job["static_configs"] = [tell(f"orthanc-{n}", app, servers[n]) for n in range(2)]
    job["static_configs"].append(tell("viewer-0", "viewer", servers[0]))
    with PrometheusServer(tmp_path, [job]) as prometheus:

        def is_up() -> bool:
            found = prometheus.query('up{job="orthanc"}')
            states = {row["metric"]["instance"]: row["value"][1] for row in found}
            return states == {"orthanc-0": "1", "orthanc-1": "1"}

        assert wait_until(is_up)


# ---- The sums


def upload_from(address: str, port: int, content: bytes) -> int:
    """One file over a connection of its own from this address of the machine."""
    with open_session(address) as session:
        url = f"http://127.0.0.1:{port}/instances"
        return session.post(url, data=content, auth=OPERATOR, timeout=120).status_code


def read_stored(server: OrthancServer, images: Sequence[Image]) -> int:
    """The size of all files as this server reads them; their pixels have to be what was sent."""
    total = 0
    for image in images:
        content = server.get_file(server.find_instance(image.sop_instance_uid))
        assert content.endswith(image.read_bytes()[-4096:]), image.sop_instance_uid
        total += len(content)
    return total


def test_what_is_sent_to_haproxy_adds_up(fleet: Fleet, make_series: MakeSeries) -> None:
    images = make_series("fleet-sum", 48)
    by_dicom, by_http = images[:32], images[32:]
    a, b = fleet.servers.values()

    def send(number: int) -> int:
        share = by_dicom[number::SENDERS]
        command = make_store_command(fleet.haproxy.dicom_port, share, f"SENDER{number}")
        subprocess.run(command, check=True, timeout=300)
        content = by_http[number].read_bytes()
        return upload_from(f"127.0.0.{number + 2}", fleet.haproxy.http_port, content)

    with ThreadPoolExecutor(SENDERS) as pool:
        assert list(pool.map(send, range(SENDERS))) == [200] * SENDERS

    assert wait_until(lambda: fleet.sum(INSTANCES) >= len(images))
    assert fleet.sum(INSTANCES, outcome="stored") == len(images)
    assert fleet.sum(INSTANCES, outcome="stored", origin="DicomProtocol") == len(by_dicom)
    assert fleet.sum(INSTANCES) == len(images)
    for name, server in fleet.servers.items():
        assert scrape(server).sum(INSTANCES) > 0, f"{name} was sent nothing"
        assert fleet.haproxy.count_connections(name) > 0
        assert server.get_json("/statistics")["CountInstances"] == len(images)

    # Whichever took it, the other one has it; and not a byte is counted twice
    total = read_stored(a, images)
    assert total == read_stored(b, images)
    assert fleet.sum(BYTES) == total
    assert fleet.sum(BYTES, origin="RestApi") == sum(image.get_size() for image in by_http)

    expected = {f"sum({INSTANCES})": len(images), f"sum({BYTES})": total}
    for expression, value in expected.items():
        assert wait_until(lambda e=expression, v=value: fleet.ask(e) == {"": v}), expression
    assert fleet.ask(f'sum by (instance) ({INSTANCES}{{job="orthanc"}})') == {
        name: scrape(server).sum(INSTANCES) for name, server in fleet.servers.items()
    }
    assert wait_until(lambda: fleet.ask('up{job="haproxy"}') != {})


def test_who_is_listed_finds_what_any_server_has_stored(
    fleet: Fleet, make_series: MakeSeries
) -> None:
    """By its title, as Orthanc sees no address but HAProxy's."""
    (image,) = make_series("fleet-find", 1)
    fleet.servers["orthanc-b"].upload(image.read_bytes())
    ((title, *_),) = read_configuration()["DicomModalities"].values()

    def find(caller: str) -> str:
        keys = ["QueryRetrieveLevel=IMAGE", f"SOPInstanceUID={image.sop_instance_uid}"]
        command = ["findscu", "-v", "-S", "-aet", caller, "-aec", "ORTHANC", "127.0.0.1"]
        command += [str(fleet.haproxy.dicom_port), "-k", keys[0], "-k", keys[1]]
        return run(command).stderr

    # Each association goes to the server with the fewest, and so by turns to both
    for said in (find(title), find(title)):
        assert said.count("Find Response: 1 (Pending)") == 1, said
    assert "(Pending)" not in find("STRANGER")


def read_timers(condition: str) -> list[str]:
    """Of each established connection, when the kernel will ask whether the other side is there."""
    lines = get_output(["ss", "-tnoH", "state", "established", condition]).splitlines()
    return [timer[1] for line in lines if (timer := re.search(r"timer:\(keepalive,(\w+)", line))]


def test_who_is_gone_without_a_word_is_looked_for_soon(fleet: Fleet) -> None:
    """In seconds; the system's own value is hours."""
    database = read_timers(f"dport = :{fleet.database.port}")
    assert database
    with socket.create_connection(("127.0.0.1", fleet.haproxy.dicom_port)):
        ports = [fleet.haproxy.dicom_port]
        ports += [server.dicom_port for server in fleet.servers.values()]
        assert wait_until(lambda: len(read_timers(f"sport = :{ports[0]}")) == 1)
        to_servers = " or ".join(f"dport = :{port}" for port in ports[1:])
        assert wait_until(lambda: len(read_timers(f"( {to_servers} )")) == 1)
        associations = read_timers(f"sport = :{ports[0]}") + read_timers(f"( {to_servers} )")
    assert all("min" not in timer for timer in database + associations), (database, associations)


def test_a_machine_that_dies_in_the_middle_of_an_image_does_not_hold_its_sender(
    fleet: Fleet,
) -> None:
    """Keep-alive does not run then. But whom the plugin holds back is no such case: of C-STORE, it
    reads a little every 20 s (AdmissionQueue::SILENCE), of an upload nothing, however long."""
    several_silences = 6 * 20
    ports = " or ".join(f"dport = :{server.dicom_port}" for server in fleet.servers.values())
    with socket.create_connection(("127.0.0.1", fleet.haproxy.dicom_port)):
        assert wait_until(lambda: read_user_timeouts(f"( {ports} )") == [several_silences])
    before_http, http = (FLEET / "haproxy.cfg").read_text("utf-8").split("\nbackend http\n")
    of_dicom = re.findall(r"(?m)^ +server .*:4242 .*$", before_http)
    assert len(of_dicom) == 4 and all("tcp-ut 2m" in line for line in of_dicom)
    assert "tcp-ut" not in http


def test_clients_that_say_nothing_leave_a_thread_for_the_check(fleet: Fleet) -> None:
    with ExitStack() as stack:
        address = ("127.0.0.1", fleet.haproxy.http_port)
        for _ in range(60):
            stack.enter_context(socket.create_connection(address))
        assert wait_until(lambda: fleet.haproxy.count_open("http") == 40)
        for server in fleet.servers.values():
            url = f"{server.url}/perf/health"
            requests.get(url, auth=CHECK, timeout=5).raise_for_status()  # as HAProxy does


# ---- What breaks


@pytest.mark.long
def test_nothing_acknowledged_is_lost_with_a_server_and_the_sums_say_what_they_forgot(
    fleet: Fleet, reliability: AddRow
) -> None:
    row = reliability(
        "one of two Orthancs on one PostgreSQL killed, HAProxy before them, 16 senders",
        "all that was acknowledged is stored with its pixels; the sum of both is what was "
        "acknowledged, but for what Prometheus had not asked for yet; an alert names it",
    )
    with row.attempt():
        a, b = fleet.servers.values()
        a.delete_all()
        tune_sockets(a, Preset="stock")
        series = f'{INSTANCES}{{job="orthanc", outcome="stored"}}'
        counter = f"sum by (instance) ({series})"
        assert wait_until(lambda: fleet.ask(counter) == fleet.count_stored())
        earlier = fleet.count_stored()
        firing = 'ALERTS{alertname="OrthancPerfAbsent", alertstate="firing"}'
        secret = base64.b64encode(":".join(OPERATOR).encode()).decode()
        headers = {"Authorization": f"Basic {secret}"}
        ways = ["store", "upload"] * (SENDERS // 2)

        with AcknowledgedLoad(fleet.haproxy, NumberedImages(), ways, headers) as load:
            load.wait_for(BEFORE_KILL)
            a.kill()
            killed = time.time()
            assert wait_until(lambda: fleet.haproxy.list_up() == ["orthanc-b"])
            assert wait_until(lambda: fleet.ask(firing) == {"orthanc-a": 1}), fleet.ask("up")
            samples = [
                row["values"][-1]
                for row in fleet.prometheus.query(f"{series}[1h]")
                if row["metric"]["instance"] == "orthanc-a"
            ]
            a.start()
            assert a.get_json("/perf/tuning")["DicomSockets"]["Preset"] == "stock"
            assert b.get_json("/perf/tuning")["DicomSockets"]["Preset"] == "tuned"
            assert wait_until(lambda: fleet.haproxy.list_up() == NAMES)
            load.wait_for(BEFORE_KILL)
        assert wait_until(lambda: fleet.ask(firing) == {})
        for server in fleet.servers.values():
            StoreCheck().check(server, load.acknowledged)

        # What Prometheus has of both lives of the one, and of the other
        last_visit = max(at for at, _ in samples)
        before = sum(float(value) for _, value in samples)
        assert wait_until(lambda: fleet.sum(IN_FLIGHT) == 0)
        assert wait_until(lambda: fleet.ask(counter) == fleet.count_stored())
        counted = before + sum(fleet.count_stored().values()) - sum(earlier.values())
        acknowledged = len(load.acknowledged)
        wall = time.time() - time.monotonic()
        unseen = sum(last_visit - 1 <= at + wall <= killed + 1 for at in load.times.values())
        assert acknowledged - unseen <= counted <= len(load.sent), (acknowledged, unseen, counted)
        row.count("instances acknowledged", acknowledged)
        row.count("of them not in Prometheus", max(0, int(acknowledged - counted)))


@pytest.mark.long
def test_without_the_database_no_server_gets_connections_until_it_is_back(fleet: Fleet) -> None:
    fleet.database.stop()
    try:
        assert wait_until(lambda: fleet.haproxy.list_up() == [])
        for server in fleet.servers.values():
            assert server.get("/perf/metrics").status_code == 200  # which asks nobody
        with (
            suppress(OSError),
            socket.create_connection(
                ("127.0.0.1", fleet.haproxy.dicom_port), timeout=10
            ) as connection,
        ):
            assert connection.recv(1) == b""
    finally:
        fleet.database.start()
    assert wait_until(lambda: fleet.haproxy.list_up() == NAMES)
