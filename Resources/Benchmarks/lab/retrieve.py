# SPDX-License-Identifier: GPL-3.0-or-later
"""One study in bulk out of Orthanc, by every way there is, beside nginx and vsftpd on its files.

Each client writes what it gets into a folder in memory, where it is counted after each turn. The
servers read from the page cache, or, where it is emptied before each turn, from the disk.
"""

import re
import shutil
import sys
import zipfile
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from mmap import ACCESS_READ, mmap
from pathlib import Path
from tempfile import TemporaryDirectory

import pydicom

from harness import ftp
from harness.images import Image
from harness.lookup_index import fill_index, make_lookup_index
from harness.orthanc import DICOMWEB_PLUGIN, OrthancServer, find_free_port
from harness.proxy import serve_files
from harness.receivers import describe_modality
from harness.transcoding import JPEG_LOSSLESS_SV1
from lab import processes
from lab.cells import Bench, Entry, Experiment, Factors, Figure, Figures, Room, Stage
from lab.machine import describe_packages, is_in_memory
from lab.options import Option, make_plan, make_series
from lab.page_cache import evict, get_cached_share, read_in
from lab.processes import SAME_PIXELS, ClientError, check_images, run_clients, watch_processor
from lab.senders import get_limit, use_http

SHIPPED, TUNED = "Orthanc as shipped", "Orthanc with the plugin"
FTP = "FTP (vsftpd)"
FTP_FILE = f"{FTP}, one file"
ONE_FILE = "study"
NGINX_FILE = "nginx, one file"
WADO = "DICOMweb (WADO-RS)"  # one request for a study, as MINT had it
BY_UID = "DICOMweb (WADO-RS), image by image"
ARCHIVE = "archive (ZIP)"
LEVEL_1 = f"{ARCHIVE}, level 1"
OF_JPEG = f"{ARCHIVE} of JPEG Lossless"
WITH_INDEX = "with that of Orthanc 1.12.10"
INDEXES = ["as shipped", WITH_INDEX]
FEW = 200  # images among the others
MOVER = "MOVER"
IN_MEMORY = Path("/dev/shm")
CACHED, ON_DISK = "in the page cache", "on the disk only"
SERVERS, CACHES = [SHIPPED, TUNED], [CACHED, ON_DISK]
OPTIONS = {CACHED: {}, ON_DISK: {"MaximumStorageCacheSize": 0}}  # Orthanc's own cache
MULTIPART = 'multipart/related; type="application/dicom"; transfer-syntax=*'
PART = b"Content-Type: application/dicom"

Count = Callable[[Path], tuple[int, int]]


@dataclass(frozen=True)
class Way:
    """A client that writes a study to a folder, the server's process, and what is to be there.

    Without a process: its sessions have some of their own, whose times nobody adds up.
    `is_timed`: the client's last line is the seconds that it took, without its start. `prepare`
    makes all ready for a turn, before the client starts; `end` afterwards.
    """

    command: Callable[[Path], list[str | Path]]
    pid: int | None
    count: Count
    is_timed: bool = False
    prepare: Callable[[], object] = lambda: None
    end: Callable[[], object] = lambda: None


def prepare_files(folders: list[Path], is_cached: bool) -> float:
    """The part of them that is in memory, in per cent."""
    files = [
        path
        for folder in folders
        for path in folder.rglob("*")
        # Orthanc's index stays, as it would: it is used all the time
        if path.is_file() and path.stat().st_size > 0 and not path.name.startswith("index")
    ]
    (read_in if is_cached else evict)(files)
    return min(1, get_cached_share(files)) * 100  # whole pages are


def count_files(folder: Path) -> tuple[int, int]:
    files = [path for path in folder.iterdir() if path.is_file()]
    options = {"stop_before_pixels": True, "specific_tags": ["SOPInstanceUID"]}
    uids = {pydicom.dcmread(path, **options).SOPInstanceUID for path in files}
    return len(uids), sum(path.stat().st_size for path in files)


def count_archive(folder: Path) -> tuple[int, int]:
    (file,) = folder.iterdir()
    with zipfile.ZipFile(file) as archive:
        if archive.testzip() is not None:
            raise ClientError("the archive is broken")
        entries = archive.infolist()
    return len(entries), sum(entry.file_size for entry in entries)


def count_parts(folder: Path) -> tuple[int, int]:
    """Of multipart answers, which may be as large as a study."""
    count = size = 0
    for path in folder.iterdir():
        with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
            count += sum(1 for _ in re.finditer(re.escape(PART), content))
            size += len(content)
    return count, size


def count_compressed(images: list[Image], server: OrthancServer, folder: Path) -> tuple[int, int]:
    """Of an archive of images that are stored compressed: as if they were not, if all are there."""
    count, size = count_archive(folder)
    stored = int(server.get_json("/statistics")["TotalUncompressedSize"])
    return count, sum(image.get_size() for image in images) if size == stored else size


def count_one_file(images: list[Image], folder: Path) -> tuple[int, int]:
    """Of images one after the other: all of them, or none."""
    (file,) = folder.iterdir()
    size = file.stat().st_size
    return len(images) if size == sum(image.get_size() for image in images) else 0, size


def use_curl(
    urls: list[str], connections: int, folder: Path, accept: str = "*/*"
) -> list[str | Path]:
    """All over connections that are kept; the list is a file, as a command's length has a limit."""
    lines = [f'url = "{url}"\noutput = "{folder}/{number}"' for number, url in enumerate(urls)]
    configuration = folder.with_suffix(".curl")
    configuration.write_text("\n".join(lines), "utf-8")
    parallel = ["--parallel", "--parallel-immediate", "--parallel-max", str(connections)]
    start = ["curl", "--disable", "--silent", "--show-error", "--fail", "--noproxy", "*"]
    start += ["--header", f"Accept: {accept}"]
    return [*start, *(parallel if connections > 1 else []), "--config", configuration]


def use_ftp(url: str, names: list[str], folder: Path) -> list[str | Path]:
    """What it says is for `read_seconds`."""
    return [sys.executable, "-m", "lab.ftp_receiver", url, folder, *names]


def read_seconds(said: str) -> float:
    return float(said.splitlines()[-1])


def use_query(program: list[str], port: int, study: str, folder: Path) -> list[str | Path]:
    keys = ["-k", "QueryRetrieveLevel=STUDY", "-k", f"StudyInstanceUID={study}"]
    return [*program, "-S", "-aec", "ORTHANC", "-od", folder, *keys, "127.0.0.1", str(port)]


def measure(way: Way, images: list[Image], prepare: Callable[[], float]) -> Figures:
    cached = prepare()
    with TemporaryDirectory(prefix="lab-got-", dir=IN_MEMORY) as name:
        folder = Path(name) / "got"
        folder.mkdir()
        way.prepare()
        processor = watch_processor(way.pid) if way.pid else None
        seconds, (said,) = run_clients([way.command(folder)], seconds=get_limit(images))
        way.end()
        if way.is_timed:
            seconds = read_seconds(said)
        used = processor() if processor else None
        count, size = way.count(folder)
    sent = sum(image.get_size() for image in images)
    if count != len(images) or size < SAME_PIXELS * sent:
        raise ClientError(f"{count} of {len(images)} images came, {size} of {sent} bytes")
    return {
        "speed": sent / seconds / 1e6,
        "throughput": count / seconds,
        **({} if used is None else {"processor time": used / count * 1000}),
        "in memory": cached,
    }


def list_ways(server: OrthancServer, mover_port: int) -> dict[str, Way]:
    (study,) = server.get_json("/studies")
    uid = server.get_json(f"/studies/{study}")["MainDicomTags"]["StudyInstanceUID"]
    urls = [f"{server.url}/instances/{name}/file" for name in server.get_json("/instances")]
    ways = {
        f"REST, {connections} connection{'s' if connections > 1 else ''}": Way(
            partial(use_curl, urls, connections), server.pid, count_files
        )
        for connections in (1, 4, 8)
    }
    archive = partial(use_curl, [f"{server.url}/studies/{study}/archive"], 1)
    web = partial(use_curl, [f"{server.url}/dicom-web/studies/{uid}"], 1, accept=MULTIPART)
    get = partial(use_query, ["getscu", "-aet", MOVER], server.dicom_port, uid)
    move = ["movescu", "-aet", MOVER, "-aem", MOVER, "--port", str(mover_port)]
    return {
        **ways,
        ARCHIVE: Way(archive, server.pid, count_archive),
        WADO: Way(web, server.pid, count_parts),
        "C-GET (getscu)": Way(get, server.pid, count_files),
        "C-MOVE (movescu)": Way(
            partial(use_query, move, server.dicom_port, uid), server.pid, count_files
        ),
    }


def set_archive_level(server: OrthancServer, level: int | str) -> None:
    server.tune(Answers={"ArchiveLevel": level})


def list_archive_ways(
    server: OrthancServer, compressed: OrthancServer, images: list[Image]
) -> dict[str, Way]:
    """What the plugin makes of archives: at another level, and of a store of JPEG Lossless."""
    (study,), (same,) = server.get_json("/studies"), compressed.get_json("/studies")
    return {
        LEVEL_1: Way(
            partial(use_curl, [f"{server.url}/studies/{study}/archive"], 1),
            server.pid,
            count_archive,
            prepare=partial(set_archive_level, server, 1),
            end=partial(set_archive_level, server, "default"),
        ),
        OF_JPEG: Way(
            partial(use_curl, [f"{compressed.url}/studies/{same}/archive"], 1),
            compressed.pid,
            partial(count_compressed, images, compressed),
        ),
    }


def list_index_ways(server: OrthancServer, images: list[Image]) -> dict[str, Way]:
    """Image by image, by Orthanc's identifiers and by DICOM's, which are looked up."""
    instances = [server.find_instance(image.sop_instance_uid) for image in images]
    web = f"{server.url}/dicom-web/studies"
    head = server.get_json(f"/instances/{instances[0]}/simplified-tags")
    series = f"{web}/{head['StudyInstanceUID']}/series/{head['SeriesInstanceUID']}/instances"
    urls = [f"{server.url}/instances/{name}/file" for name in instances]
    looked_up = [f"{series}/{image.sop_instance_uid}" for image in images]
    return {
        "REST, 1 connection": Way(partial(use_curl, urls, 1), server.pid, count_files),
        BY_UID: Way(partial(use_curl, looked_up, 1, accept=MULTIPART), server.pid, count_parts),
    }


def copy_files(images: list[Image], folder: Path) -> Path:
    """The same files as Orthanc has, on the same file system, for everybody to read."""
    files = folder / "files"
    files.mkdir(mode=0o755)
    for image in images:
        shutil.copy(image.path, files)
        (files / image.path.name).chmod(0o644)
    return files


def list_file_ways(room: Room, images: list[Image], files: Path) -> dict[str, Way]:
    """By nginx, and by vsftpd if it is there."""
    url, pid = room.enter(serve_files(files, room.folder / "nginx"))
    urls = [f"{url}/{image.path.name}" for image in images]
    count_one = partial(count_one_file, images)
    ways = {
        "nginx, 1 connection": Way(partial(use_curl, urls, 1), pid, count_files),
        "nginx, 8 connections": Way(partial(use_curl, urls, 8), pid, count_files),
        NGINX_FILE: Way(partial(use_curl, [f"{url}/{ONE_FILE}"], 1), pid, count_one),
    }
    if not ftp.find_obstacle():
        url, _ = room.enter(ftp.serve_files(files, room.folder / "vsftpd"))
        get = partial(use_ftp, url, [image.path.name for image in images])
        get_one = partial(use_ftp, url, [ONE_FILE])
        ways[FTP] = Way(get, None, count_files, is_timed=True)
        ways[FTP_FILE] = Way(get_one, None, count_one, is_timed=True)
    return ways


def open_bench(
    plugin: Path, images: list[Image], server_name: str, cache: str, room: Room
) -> Bench:
    if cache == ON_DISK and is_in_memory(room.folder):
        reason = "its storage is in memory; --storage names a folder on a disk"
        return lambda _: Entry({}, {cache: reason})
    port = find_free_port()
    plugins = [DICOMWEB_PLUGIN, *([plugin] if server_name == TUNED else [])]
    options = {"DicomModalities": {"mover": describe_modality(port, MOVER)}, **OPTIONS[cache]}
    server = OrthancServer(room.folder / "tested", plugins=plugins, options=options)
    room.enter(server)
    use_http(server, images, 2)()
    check_images(server, images)
    compressed = None
    if server_name == TUNED:
        compressed = start_compressed(room, plugin, images, cache)

    def enter(_: Factors) -> Entry:
        files = copy_files(images, room.folder)
        one = files / ONE_FILE  # as report 003 had it
        one.write_bytes(b"".join(image.read_bytes() for image in images))
        one.chmod(0o644)
        obstacle = ftp.find_obstacle()
        ways = {
            **list_ways(server, port),
            **(list_archive_ways(server, compressed, images) if compressed else {}),
            **list_file_ways(room, images, files),
        }
        folders = [one.storage for one in (server, compressed) if one]
        prepare = partial(prepare_files, [*folders, files], cache == CACHED)
        return Entry(
            {name: partial(measure, way, images, prepare) for name, way in ways.items()},
            {FTP: obstacle} if obstacle else {},
        )

    return enter


def start_compressed(room: Room, plugin: Path, images: list[Image], cache: str) -> OrthancServer:
    transcoding = {"Engine": "native", "TransferSyntax": JPEG_LOSSLESS_SV1}
    perf = {"Tuning": {"IngestTranscoding": transcoding}}
    server = OrthancServer(room.folder / "compressed", [plugin], perf, OPTIONS[cache])
    room.enter(server)
    use_http(server, images, 2)()
    processes.check_stored(server, len(images))
    processes.check_syntax(server, JPEG_LOSSLESS_SV1)
    return server


def open_index_bench(plugin: Path, images: list[Image], stored: int, room: Room) -> Bench:
    """The images in a store with so many other instances, of which the database alone knows."""
    server = OrthancServer(room.folder / "tested", plugins=[DICOMWEB_PLUGIN, plugin])
    room.enter(server)
    use_http(server, make_series("retrieve-other", 1), 1)()
    server.stop()
    fill_index(server.storage / "index", stored)
    server.start()
    use_http(server, images, 2)()

    def enter(factors: Factors) -> Entry:
        if factors["Index"] == WITH_INDEX:
            server.stop()
            make_lookup_index(server.storage / "index")
            server.start()
        prepare = partial(prepare_files, [server.storage], is_cached=True)
        ways = list_index_ways(server, images)
        return Entry({name: partial(measure, way, images, prepare) for name, way in ways.items()})

    return enter


def make_stages(arguments: Namespace) -> list[Stage]:
    images = make_series("retrieve", arguments.images)
    size = sum(image.get_size() for image in images) / 1e6
    study = f"{len(images)} CT, {size:.0f} MB"
    places = [
        (name, cache)
        for cache in arguments.files or CACHES
        for name in arguments.servers or SERVERS
        # A disk is as slow for either: measured only where it is asked for
        if arguments.files or arguments.servers or (name, cache) != (SHIPPED, ON_DISK)
    ]
    stages = [
        Stage(
            [{"Study": study, "Server": name, "Files": cache}],
            partial(open_bench, arguments.plugin, images, name, cache),
            arguments.turns,
            arguments.seconds,
        )
        for name, cache in places
    ]
    if arguments.stored:
        few = images[:FEW]
        store = f"{len(few)} CT among {arguments.stored:,} instances in SQLite"
        cells = [
            {"Study": store, "Server": TUNED, "Files": CACHED, "Index": index} for index in INDEXES
        ]
        bench = partial(open_index_bench, arguments.plugin, few, arguments.stored)
        stages.append(Stage(cells, bench, arguments.turns, arguments.seconds))
    return stages


ALL_BUT = "; by itself, all but the first server on the disk only"
EXPERIMENT = Experiment(
    "one study out of Orthanc by every way, beside nginx and vsftpd",
    [
        Option("--servers", None, f"which of them{ALL_BUT}", choices=SERVERS, nargs="+"),
        Option("--files", None, f"where they are{ALL_BUT}", choices=CACHES, nargs="+"),
        Option("--images", 2000, "of the study, 525 kB each", 40),
        Option("--stored", 100_000, "others in the last cells' store; 0: no such cells", 1000),
        *make_plan(3, 400, (2, 10)),
    ],
    make_stages,
    {
        "speed": Figure("MB/s"),
        "throughput": Figure("images/s", is_compared=False),
        "processor time": Figure("ms/image"),
        "in memory": Figure("% of the files", is_compared=False),
    },
    Path("/var/tmp"),
    facts=lambda _: describe_packages("curl", "nginx", "vsftpd", "orthanc-dicomweb"),
)
