# SPDX-License-Identifier: GPL-3.0-or-later
"""Ingest with transcoding, relative to ingest without: each engine in turn, switched over REST.

One server with the plugin and tuned sockets holds all contestants but one: Orthanc's own
IngestTranscoding can only be configured, so that it gets a server of its own for each target.
"""

from argparse import Namespace
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

from harness.images import Image
from harness.orthanc import OrthancServer
from lab.cells import Bench, Entry, Experiment, Factors, Figure, Figures, Room, Stage
from lab.options import Option, make_plan, make_series
from lab.processes import ClientError, check_stored, check_syntax, watch_processor
from lab.senders import Target, use_storescu

TARGETS = {
    "JPEGProcess14SV1": "1.2.840.10008.1.2.4.70",
    "JPEGLSLossless": "1.2.840.10008.1.2.4.80",
    "JPEG2000LosslessOnly": "1.2.840.10008.1.2.4.90",
    "RLELossless": "1.2.840.10008.1.2.5",
}
EXPLICIT = "1.2.840.10008.1.2.1"

# What Orthanc writes by itself (DcmtkTranscoder)
WRITTEN_BY_ORTHANC = ["JPEGProcess14SV1", "JPEGLSLossless"]

ENGINES = ["native", "dcmtk", "gdcm", "auto"]

NONE = "stored as received"
OWN = "Orthanc's own"


@dataclass(frozen=True)
class Store:
    server: OrthancServer
    tuning: dict[str, Any] | None
    stored_as: str

    def switch(self) -> str | None:
        """Why the server does not accept that."""
        if self.tuning is None:
            return None
        tuning = {"IngestTranscoding": self.tuning}
        answer = self.server.request("PUT", "/perf/tuning", json=tuning)
        return None if answer.ok else "the engine does not write it, or is not there"


def measure(store: Store, images: list[Image], senders: int) -> Figures:
    """One series stored; the processor time is Orthanc's and that of the engines' processes."""
    server = store.server
    server.delete_all()
    problem = store.switch()
    if problem is not None:
        raise ClientError(problem)
    processor = watch_processor(server.pid)
    seconds = use_storescu(Target(server.dicom_port, images), senders)()
    used = processor()
    check_stored(server, len(images))
    check_syntax(server, store.stored_as)
    # Orthanc's own transcoding is none of the phases
    latest = server.get_json(f"/perf/instances?limit={len(images)}")
    seen = median(instance["Phases"].get("Transcode", 0) for instance in latest)
    return {
        "throughput": len(images) / seconds,
        "processor time": used / len(images) * 1000,
        'phase "transcode"': seen * 1000,
    }


def enter(
    tested: OrthancServer,
    own: OrthancServer | None,
    engines: list[str],
    images: list[Image],
    factors: Factors,
) -> Entry:
    """Storing as received, the engines that write this target, and Orthanc by itself."""
    target, senders = TARGETS[factors["Target"]], int(factors["Senders"].split()[0])
    stores = {NONE: Store(tested, {"TransferSyntax": ""}, EXPLICIT)}
    declined = {}
    for engine in engines:
        store = Store(tested, {"TransferSyntax": target, "Engine": engine}, target)
        problem = store.switch()
        if problem is None:
            stores[engine] = store
        else:
            declined[engine] = problem
    if own is not None:
        stores[OWN] = Store(own, None, target)
    for store in stores.values():
        measure(store, images[: 4 * senders], senders)  # to warm up
    contestants = {name: partial(measure, store, images, senders) for name, store in stores.items()}
    return Entry(contestants, declined)


def open_bench(arguments: Namespace, target: str, images: list[Image], room: Room) -> Bench:
    """Of Orthanc's own transcoding by its own DCMTK, the plugin only serves the sockets."""
    options = {"IngestTranscoding": TARGETS[target], "BuiltinDecoderTranscoderOrder": "Before"}
    plugins = [arguments.plugin]
    tested = room.enter(OrthancServer(room.folder / "tested", plugins=plugins))
    own = None
    if target in WRITTEN_BY_ORTHANC:
        own = OrthancServer(room.folder / "own", plugins=plugins, options=options)
        room.enter(own)
    return partial(enter, tested, own, arguments.engines, images)


def make_stages(arguments: Namespace) -> list[Stage]:
    images = make_series("transcoding", arguments.images)
    stages = []
    for target in arguments.targets:
        cells = [
            {"Target": target, "Senders": f"{senders} storescu"} for senders in arguments.senders
        ]
        bench = partial(open_bench, arguments, target, images)
        stages.append(Stage(cells, bench, arguments.turns, arguments.seconds))
    return stages


EXPERIMENT = Experiment(
    "ingest as received and transcoded",
    [
        Option("--targets", list(TARGETS), choices=TARGETS),
        Option("--engines", ENGINES, choices=ENGINES),
        Option("--images", 100, "in each run", 10),
        Option("--senders", [1, 4], "parallel storescu", [1]),
        *make_plan(6, 120, (2, 20), "--rounds"),
    ],
    make_stages,
    {
        "throughput": Figure("images/s"),
        "processor time": Figure("ms/image"),
        'phase "transcode"': Figure("ms an image", is_compared=False),
    },
)
