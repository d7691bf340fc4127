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
import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml
from pydicom import dcmread
from pydicom.uid import generate_uid

from conftest import ROOT, AddRow, MakeSeries
from harness.clients import get_output, make_store_command
from harness.fleet import FLEET
from harness.haproxy import HaProxyServer
from harness.images import Image
from harness.metrics import BYTES, INSTANCES, scrape, wait_until
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

# Of what a server says when an association begins: by it a sender knows which one it got, whenever
# it gets to read that. Of a PDU, its header and that of the value in it are no value (DICOM PS3.8,
# section 9.3.5). HTTP clients ask for its name
AGAIN = "orthanc-a again"
PDU_LENGTHS = {"orthanc-a": 16384, "orthanc-b": 16386, AGAIN: 16388}
PDV_LENGTHS = {length - 12: name for name, length in PDU_LENGTHS.items()}

IMAGES_AN_ASSOCIATION = 5  # or an HTTP connection
ORIGINS = ["DicomProtocol", "RestApi"]  # every other sender's
BEFORE_KILL = 400  # instances that the server has acknowledged


@dataclass
class Fleet:
    servers: dict[str, OrthancServer]
    database: PostgreSqlServer
    haproxy: HaProxyServer
    prometheus: PrometheusServer

    def sum(self, name: str, **labels: str) -> float:
        """Of all servers, as they say themselves."""
        return sum(scrape(server).sum(name, **labels) for server in self.servers.values())

    def ask(self, expression: str) -> dict[str, float]:
        """Prometheus' answer, by the server's name, or "" for what is not about one."""
        found = self.prometheus.query(expression)
        return {row["metric"].get("instance", ""): float(row["value"][1]) for row in found}

    def list_alerts(self, name: str) -> list[dict[str, str]]:
        found = self.prometheus.query(f'ALERTS{{alertname="{name}", alertstate="firing"}}')
        return [row["metric"] for row in found]


def read_configuration() -> dict[str, Any]:
    text = (FLEET / "orthanc.json").read_text("utf-8")
    return json.loads(re.sub(r"(?m)^\s*//.*$", "", text))


def make_options(folder: Path, database: PostgreSqlServer, name: str) -> dict[str, Any]:
    options = read_configuration()
    for key in ("HttpPort", "DicomPort", "LuaScripts", "Plugins"):
        del options[key]
    uri: str = options["PostgreSQL"]["ConnectionUri"]
    own = f"postgresql://postgres@127.0.0.1:{database.port}/postgres?{uri.partition('?')[2]}"
    return options | {
        "StorageDirectory": str(folder / "images"),
        "PostgreSQL": options["PostgreSQL"] | {"ConnectionUri": own},
        "RemoteAccessAllowed": False,
        "MaximumPduLength": PDU_LENGTHS[name],
    }


def find_postgresql_plugin(root: str) -> Path:
    return POSTGRESQL_PLUGIN if root == "/" else SYSTEM_PLUGINS / POSTGRESQL_PLUGIN.name


def start(
    folder: Path,
    database: PostgreSqlServer,
    name: str,
    plugin: Path,
    root: str = "/",
    lua: list[str] | None = None,
) -> OrthancServer:
    (folder / name).mkdir(exist_ok=True)
    return OrthancServer(
        folder / name,
        plugins=[plugin, find_postgresql_plugin(root)],
        options=make_options(folder, database, name),
        environment={
            "ORTHANC_NAME": name,
            "ORTHANC_ALICE": OPERATOR[1],
            "ORTHANC_PROMETHEUS": CHECK[1],
        },
        launcher=enter(platform.machine(), root, folder),
        credentials=OPERATOR,
        lua=[read_access(), *(lua or [])],
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


def assemble(
    stack: ExitStack, folder: Path, servers: dict[str, OrthancServer], database: PostgreSqlServer
) -> Fleet:
    haproxy = stack.enter_context(HaProxyServer(folder, servers, CHECK))
    jobs = list_jobs(folder, servers, haproxy)
    prometheus = stack.enter_context(PrometheusServer(folder, jobs, adapt_rules(folder)))
    return Fleet(servers, database, haproxy, prometheus)


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
        yield assemble(stack, folder, servers, database)


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


def test_postgresql_has_connections_for_all_servers() -> None:
    connections = read_configuration()["PostgreSQL"]["IndexConnectionsCount"]
    assert connections * len(NAMES) <= 97  # of PostgreSQL's 100, 3 are for superusers


def read_kubernetes() -> dict[tuple[str, str], dict[str, Any]]:
    documents = yaml.safe_load_all((FLEET / "kubernetes.yaml").read_text("utf-8"))
    return {(document["kind"], document["metadata"]["name"]): document for document in documents}


def read_annotations() -> dict[str, str]:
    pods = read_kubernetes()["StatefulSet", "orthanc"]["spec"]
    return pods["template"]["metadata"]["annotations"]


def test_kubernetes_is_told_of_what_there_is() -> None:
    kinds = read_kubernetes()
    pods = kinds["StatefulSet", "orthanc"]["spec"]
    labels = pods["template"]["metadata"]["labels"]
    for name in ("orthanc", "orthanc-dicom", "orthanc-http"):
        assert kinds["Service", name]["spec"]["selector"] == labels
    for other in (pods, kinds["PodDisruptionBudget", "orthanc"]["spec"]):
        assert other["selector"]["matchLabels"] == labels
    (container,) = pods["template"]["spec"]["containers"]
    (volume,) = pods["template"]["spec"]["volumes"]
    assert ("PersistentVolumeClaim", volume["persistentVolumeClaim"]["claimName"]) in kinds
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports == {"dicom": 4242, "http": int(read_annotations()["prometheus.io/port"])}
    (named,) = [job for job in read_jobs() if "static_configs" in job]
    assert [group["targets"] for group in named["static_configs"]] == [
        [f"orthanc-{n}.orthanc:8042"] for n in range(pods["replicas"])
    ]
    # The same as in orthanc.json, by the image's variables
    known = read_configuration()
    environment = {entry["name"]: entry.get("value") for entry in container["env"]}
    (script,) = json.loads(environment["ORTHANC__LUA_SCRIPTS"])
    assert Path(script).name == Path(known["LuaScripts"][0]).name == "access.lua"
    assert environment["ORTHANC__POSTGRESQL__LOCK"] == "false"
    uri = environment["ORTHANC__POSTGRESQL__CONNECTION_URI"]
    assert uri.partition("?")[2] == known["PostgreSQL"]["ConnectionUri"].partition("?")[2]
    connections = int(environment["ORTHANC__POSTGRESQL__INDEX_CONNECTIONS_COUNT"])
    assert pods["replicas"] * connections <= 97


def test_kubernetes_opens_nothing_to_the_internet() -> None:
    """As a cloud's load balancer would, unless it is told who may come."""
    services = [found for (kind, _), found in read_kubernetes().items() if kind == "Service"]
    outside = [s["spec"] for s in services if s["spec"].get("type") == "LoadBalancer"]
    assert len(outside) == 2
    for service in outside:
        ranges = service.get("loadBalancerSourceRanges")
        assert ranges
        assert all(ip_network(text).is_private for text in ranges)


def read_jobs() -> list[dict[str, Any]]:
    text = (FLEET / "prometheus-kubernetes.yml").read_text("utf-8")
    return yaml.safe_load(text)["scrape_configs"]


def test_prometheus_finds_pods_by_their_annotations(fleet: Fleet, tmp_path: Path) -> None:
    """By a list of what Kubernetes would tell it of two pods, one target for each of their ports,
    and of one of somebody else's: Debian's Prometheus is made without asking Kubernetes itself."""
    annotations = {
        re.sub(r"\W", "_", name): value
        for name, value in read_annotations().items()
        if name.startswith("prometheus.io/")
    }
    assert annotations.pop("prometheus_io_port") == "8042"

    def tell(pod: str, app: str, server: OrthancServer) -> dict[str, Any]:
        own = annotations | {"prometheus_io_port": str(server.http_port)}
        labels = {
            "__meta_kubernetes_pod_name": pod,
            "__meta_kubernetes_pod_ip": "127.0.0.1",
            "__meta_kubernetes_pod_label_app": app,
        }
        labels |= {f"__meta_kubernetes_pod_annotation_{name}": own[name] for name in own}
        return {"targets": ["127.0.0.1:4242", "127.0.0.1:8042"], "labels": labels}

    servers = list(fleet.servers.values())
    (job,) = [job for job in read_jobs() if "kubernetes_sd_configs" in job]
    job["job_name"] = "orthanc"
    (tmp_path / "password").write_text(CHECK[1])
    job["basic_auth"]["password_file"] = str(tmp_path / "password")
    assert job.pop("kubernetes_sd_configs") == [
        {"role": "pod", "namespaces": {"names": ["default"]}}
    ]
    job["scrape_interval"] = "1s"
    job["static_configs"] = [tell(f"orthanc-{n}", "orthanc", servers[n]) for n in range(2)]
    job["static_configs"].append(tell("viewer-0", "viewer", servers[0]))
    stranger = {name: value for name, value in job.items() if name != "basic_auth"}
    stranger["job_name"] = "stranger"
    with PrometheusServer(tmp_path, [job, stranger]) as prometheus:

        def ask(name: str) -> dict[str, float]:
            found = prometheus.query(f'up{{job="{name}"}}')
            return {row["metric"]["instance"]: float(row["value"][1]) for row in found}

        assert wait_until(lambda: ask("orthanc") == {"orthanc-0": 1, "orthanc-1": 1})
        assert wait_until(lambda: len(ask("stranger")) == 2)
        assert set(ask("stranger").values()) == {0}
        (count,) = prometheus.query('count(orthanc_perf_start_time_seconds{job="orthanc"})')
        assert count["value"][1] == "2"


# ---- The sums


def upload_from(address: str, port: int, content: bytes) -> int:
    """One file over a connection of its own from this address of the machine."""
    with requests.Session() as session:
        session.trust_env = False
        adapter = requests.adapters.HTTPAdapter()
        adapter.init_poolmanager(1, 1, source_address=(address, 0))
        session.mount("http://", adapter)
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


def test_a_server_is_drained_by_hand(fleet: Fleet, make_series: MakeSeries) -> None:
    """With the other one's DICOM drained as well, it gets associations no more than before."""
    (image,) = make_series("fleet-drain", 1)
    haproxy = fleet.haproxy

    def send() -> None:
        for number in range(2, 12):
            assert upload_from(f"127.0.0.{number}", haproxy.http_port, image.read_bytes()) == 200
        for _ in range(2):
            get_output(make_store_command(haproxy.dicom_port, [image]))

    def order(server: str, state: str) -> None:
        assert not haproxy.order(f"set server {server} state {state}").strip()

    def count() -> list[int]:
        backends = ("http", "dicom", "dicom-anyway")
        return [haproxy.count_connections("orthanc-a", backend) for backend in backends]

    before = count()
    for server in ("http/orthanc-a", "dicom/orthanc-a"):
        order(server, "drain")
    send()
    order("dicom/orthanc-b", "drain")
    send()
    assert count() == before
    for server in ("http/orthanc-a", "dicom/orthanc-a", "dicom/orthanc-b"):
        order(server, "ready")
    send()
    http, dicom, _ = count()
    assert http > before[0]
    assert dicom > before[1]


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


def read_limits(fleet: Fleet) -> list[float]:
    """Of an association that begins: how long HAProxy waits for the server's acknowledgements."""
    ports = " or ".join(f"dport = :{server.dicom_port}" for server in fleet.servers.values())
    with socket.create_connection(("127.0.0.1", fleet.haproxy.dicom_port)):
        assert wait_until(lambda: read_user_timeouts(f"( {ports} )") != [])
        return read_user_timeouts(f"( {ports} )")


def test_a_machine_that_dies_in_the_middle_of_an_image_does_not_hold_its_sender(
    fleet: Fleet,
) -> None:
    """Keep-alive does not run then. But whom the plugin holds back is no such case: of C-STORE, it
    reads a little every 20 s (IngestBudget::SILENCE), of an upload nothing, however long."""
    several_silences = [6 * 20]
    assert read_limits(fleet) == several_silences
    haproxy = fleet.haproxy
    for name in fleet.servers:
        haproxy.order(f"set server dicom/{name} state drain")
    try:
        assert read_limits(fleet) == several_silences  # of those that cannot store
    finally:
        for name in fleet.servers:
            haproxy.order(f"set server dicom/{name} state ready")
    assert sum(haproxy.count_connections(name, "dicom-anyway") for name in fleet.servers) > 0
    *_, http = (FLEET / "haproxy.cfg").read_text("utf-8").partition("\nbackend http\n")
    assert http
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


@dataclass
class Acknowledged:
    """What servers have said to have stored: by whom, when, and in which of its lives."""

    entries: list[tuple[str, str, float]] = field(default_factory=list)  # file, server, time
    refused: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, path: str, name: str, status: str) -> None:
        with self.lock:
            if status == "Success":
                self.entries.append((path, name, time.time()))
            else:
                self.refused[f"{name}: {status}"] += 1

    def count(self, name: str, begin: float = 0, end: float = float("inf")) -> int:
        with self.lock:
            return sum(who == name and begin <= at < end for _, who, at in self.entries)


def send_until_acknowledged(
    port: int, number: int, images: Sequence[Path], done: Acknowledged
) -> None:
    """By storescu, a few images an association, again and again until each is acknowledged."""
    waiting = list(images)
    command = ["storescu", "-v", "-aet", f"SENDER{number}", "-aec", "ORTHANC", "127.0.0.1"]
    while waiting:
        acknowledged = []
        name = path = ""
        with subprocess.Popen(
            [*command, str(port), *waiting[:IMAGES_AN_ASSOCIATION]],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if length := re.search(r"Max Send PDV: (\d+)", line):
                    name = PDV_LENGTHS[int(length[1])]
                elif file := re.search(r"Sending file: (.+)", line):
                    path = file[1]
                elif status := re.search(r"Received Store Response \((.+)\)", line):
                    done.add(path, name, status[1])
                    if status[1] == "Success":
                        acknowledged.append(Path(path))
        waiting = [path for path in waiting if path not in acknowledged]
        if process.returncode != 0:
            time.sleep(0.2)


def upload_until_acknowledged(
    port: int, number: int, images: Sequence[Path], done: Acknowledged
) -> None:
    """By POST /instances from an address of its own, a few a connection, each until it is
    acknowledged."""
    waiting = list(images)
    secret = base64.b64encode(":".join(OPERATOR).encode()).decode()
    headers = {"Authorization": f"Basic {secret}"}
    source = (f"127.0.0.{number + 2}", 0)
    while waiting:
        client = HTTPConnection("127.0.0.1", port, timeout=120, source_address=source)
        # What answers is one server for as long as it is one connection: no other is made by itself
        client.auto_open = 0
        with closing(client), suppress(OSError, HTTPException):
            client.connect()
            client.request("GET", "/system", headers=headers)
            name: str = json.loads(client.getresponse().read())["Name"]
            for path in waiting[:IMAGES_AN_ASSOCIATION]:
                client.request("POST", "/instances", path.read_bytes(), headers)
                response = client.getresponse()
                response.read()
                is_stored = response.status == requests.codes.ok
                done.add(str(path), name, "Success" if is_stored else str(response.status))
                if is_stored:
                    waiting.remove(path)
            continue
        time.sleep(0.2)


def make_small(folder: Path, original: Image, count: int) -> list[Path]:
    """Images of 64 x 64, each of a study of its own."""
    dataset = dcmread(original.path)
    dataset.Rows = dataset.Columns = 64
    paths = [folder / f"{number}.dcm" for number in range(count)]
    for number, path in enumerate(paths):
        dataset.SOPInstanceUID = dataset.file_meta.MediaStorageSOPInstanceUID = generate_uid()
        dataset.StudyInstanceUID, dataset.SeriesInstanceUID = generate_uid(), generate_uid()
        dataset.PixelData = bytes([number % 256, 3, 5] * 2731)[:8192]
        dataset.save_as(path, enforce_file_format=True)
    return paths


def read_samples(fleet: Fleet, expression: str) -> dict[str, list[tuple[float, float]]]:
    """The raw samples, moment and value, of each server: the sum of its series."""
    sums: dict[str, Counter[float]] = {}
    for row in fleet.prometheus.query(expression):
        own = sums.setdefault(row["metric"]["instance"], Counter())
        for at, value in row["values"]:
            own[at] += float(value)
    return {name: sorted(own.items()) for name, own in sums.items()}


def split_lives(samples: Sequence[tuple[float, float]]) -> list[list[tuple[float, float]]]:
    """Where a counter falls, the server was started anew."""
    lives: list[list[tuple[float, float]]] = [[]]
    for sample in samples:
        if lives[-1] and sample[1] < lives[-1][-1][1]:
            lives.append([])
        lives[-1].append(sample)
    return lives


def count_stored(server: OrthancServer) -> float:
    metrics = scrape(server)
    return sum(metrics.sum(INSTANCES, origin=origin, outcome="stored") for origin in ORIGINS)


def list_out(fleet: Fleet) -> set[tuple[str, str]]:
    """The servers that get no connections, and of which kind."""
    alerts = fleet.list_alerts("OrthancServerIsOut")
    return {(alert["server"], alert["proxy"]) for alert in alerts}


@pytest.mark.long
def test_nothing_acknowledged_is_lost_with_a_server_and_the_sums_say_what_they_forgot(
    fleet: Fleet, make_series: MakeSeries, tmp_path: Path, reliability: AddRow
) -> None:
    row = reliability(
        "one of two Orthancs on one PostgreSQL killed, HAProxy before them, 16 senders",
        "all that either acknowledged is stored with its pixels; both count what they acknowledged,"
        " to the instance, but for what Prometheus had not asked for yet; an alert names it",
    )
    with row.attempt():
        a, b = fleet.servers.values()
        (original,) = make_series("fleet-kill", 1)
        images = make_small(tmp_path, original, SENDERS * 200)
        stored_before = b.get_json("/statistics")["CountInstances"]
        tune_sockets(a, Preset="stock")
        done = Acknowledged()
        ways = [send_until_acknowledged, upload_until_acknowledged]
        ports = [fleet.haproxy.dicom_port, fleet.haproxy.http_port]
        both = f'{INSTANCES}{{job="orthanc", origin=~"{"|".join(ORIGINS)}", outcome="stored"}}'
        counter = f"sum by (instance) ({both})"
        assert wait_until(lambda: sorted(fleet.ask(counter)) == NAMES)
        earlier = fleet.ask(counter)
        firing = 'ALERTS{alertname="OrthancPerfAbsent", alertstate="firing"}'

        with ThreadPoolExecutor(SENDERS) as pool:
            sending = [
                pool.submit(ways[n % 2], ports[n % 2], n, images[n::SENDERS], done)
                for n in range(SENDERS)
            ]
            assert wait_until(lambda: done.count("orthanc-a") >= BEFORE_KILL, 300), done.refused
            os.kill(a.pid, signal.SIGKILL)
            killed = time.time()
            os.waitpid(a.pid, 0)
            assert wait_until(lambda: fleet.haproxy.list_up() == ["orthanc-b"])
            assert wait_until(lambda: fleet.ask(firing) == {"orthanc-a": 1}), fleet.ask("up")
            both_ways = {("orthanc-a", "dicom"), ("orthanc-a", "http")}
            assert wait_until(lambda: list_out(fleet) == both_ways)
            a.configure(MaximumPduLength=PDU_LENGTHS[AGAIN], Name=AGAIN)
            a.start()
            assert a.get_json("/perf/tuning")["DicomSockets"]["Preset"] == "stock"
            assert b.get_json("/perf/tuning")["DicomSockets"]["Preset"] == "tuned"
            assert wait_until(lambda: fleet.haproxy.list_up() == NAMES)
            for sender in sending:
                sender.result(600)
        assert wait_until(lambda: fleet.ask(firing) == {})

        # All is there, on either server, as it was sent
        assert sorted(path for path, _, _ in done.entries) == sorted(map(str, images))
        sent = {dcmread(path, stop_before_pixels=True).SOPInstanceUID: path for path in images}
        assert b.get_json("/statistics")["CountInstances"] == stored_before + len(sent)
        for uid, path in sent.items():
            server = a if int(path.stem) % 2 else b
            stored = server.get_file(server.find_instance(uid))
            assert stored.endswith(path.read_bytes()[-8192:]), uid

        # The server that was not killed counts exactly what it acknowledged, and so does the other
        # one in each of its lives, but for what it did between Prometheus' last visit and its end
        since = {"orthanc-a": 0, "orthanc-b": earlier["orthanc-b"]}
        for name, server in fleet.servers.items():
            expected = done.count(AGAIN if name == "orthanc-a" else name)
            wait_until(lambda s=server, e=since[name] + expected: count_stored(s) >= e)
            counted = count_stored(server)
            assert counted == since[name] + expected, f"{name}: {scrape(server).text[:3000]}"
            assert wait_until(lambda n=name, e=expected: fleet.ask(counter)[n] - since[n] == e)
        samples = read_samples(fleet, f"{both}[1h]")
        assert len(split_lives(samples["orthanc-b"])) == 1
        first, second = split_lives(samples["orthanc-a"])
        last_visit, last_value = first[-1]
        counted = last_value - earlier["orthanc-a"]
        forgotten = done.count("orthanc-a") - counted
        # An acknowledgement is on its way while the server has counted the instance already
        assert counted >= done.count("orthanc-a", end=last_visit)
        assert -SENDERS <= forgotten <= done.count("orthanc-a", last_visit - 1)
        assert second[-1][1] == done.count(AGAIN) > 0
        total = counted + second[-1][1] + fleet.ask(counter)["orthanc-b"] - earlier["orthanc-b"]
        assert total + forgotten == len(done.entries)
        resets = fleet.ask(f"sum by (instance) (resets({both}[1h]))")
        assert resets == {"orthanc-a": len(ORIGINS), "orthanc-b": 0}
        row.count("instances acknowledged", len(done.entries))
        row.count("of them not in Prometheus", max(0, int(forgotten)))
        collisions = fleet.database.log.count("could not serialize")
        print(
            f"{len(done.entries)} acknowledged; {forgotten:.0f} forgotten by Prometheus, asked"
            f" {killed - last_visit:.2f} s before the end; refused: {dict(done.refused)};"
            f" {collisions} transactions met another one"
        )


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
        assert wait_until(lambda: len(fleet.list_alerts("OrthancFleetRefuses")) == 2)
        assert list_out(fleet) == set()
    finally:
        fleet.database.start()
    assert wait_until(lambda: fleet.haproxy.list_up() == NAMES)
    assert wait_until(lambda: fleet.list_alerts("OrthancFleetRefuses") == [])


@pytest.mark.long
def test_haproxys_end_is_noticed(fleet: Fleet) -> None:
    assert wait_until(lambda: fleet.ask('up{job="haproxy"} == 1') != {})
    fleet.haproxy.kill()
    try:
        assert wait_until(lambda: len(fleet.list_alerts("OrthancHAProxyAbsent")) == 1)
    finally:
        fleet.haproxy.start()
    assert wait_until(lambda: fleet.list_alerts("OrthancHAProxyAbsent") == [])


SLOW = """
function ReceivedInstanceFilter(dicom, origin)
  os.execute("sleep 2")
  return true
end
"""


@pytest.mark.long
def test_the_alert_names_the_server_that_is_slower(
    plugin: Path, make_series: MakeSeries, tmp_path: Path
) -> None:
    """Two servers of the same kind, one of which waits for a script at each instance."""
    images = make_series("fleet-slow", 2)
    _make_storage(tmp_path / "images")
    with ExitStack() as stack:
        database = stack.enter_context(PostgreSqlServer())

        def enter_server(name: str, lua: list[str]) -> OrthancServer:
            return stack.enter_context(start(tmp_path, database, name, plugin, lua=lua))

        servers = {
            "orthanc-a": enter_server("orthanc-a", []),
            "orthanc-b": enter_server("orthanc-b", [SLOW]),
        }
        slow = assemble(stack, tmp_path, servers, database)
        assert wait_until(lambda: len(slow.ask("orthanc_perf_build_info")) == 2)
        firing = 'ALERTS{alertname="OrthancServerIsSlower", alertstate="firing"}'

        def is_named() -> bool:
            for server in servers.values():
                for image in images:
                    server.upload(image.read_bytes())
            return slow.ask(firing) == {"orthanc-b": 1}

        mean = "instance:orthanc_perf_ingest_own_seconds:mean5m"
        assert wait_until(is_named, 180), slow.ask(mean)
