# SPDX-License-Identifier: GPL-3.0-or-later
"""Transcoding under load, live switches and hostile pixel data: nothing is lost or changed."""

import itertools
import json
import os
import random
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest
from pydicom.data import get_testdata_file
from pydicom.dataset import FileDataset
from pydicom.encaps import encapsulate, encapsulate_extended, generate_frames
from pydicom.uid import UID

from conftest import MakeSeries, StartOrthanc
from harness import clients
from harness.images import Image, make_slice
from harness.metrics import wait_until
from harness.orthanc import OrthancServer, read_moment
from harness.process import get_resident_bytes, keep_children_still
from harness.sources import add_comment
from harness.transcoding import (
    EXPLICIT,
    JPEG_2000_LOSSLESS,
    JPEG_LOSSLESS_SV1,
    JPEG_LS,
    LOSSLESS,
    LOSSY,
    RLE,
    change,
    decode,
    get_syntax,
    list_engines,
    list_transcodings,
    read,
    read_stored,
    renew,
    tune,
    write,
)

ENGINES = ["dcmtk", "gdcm", "native"]
SENDERS = 4
IMAGES_PER_ASSOCIATION = 10

# "run-tests.sh --long" does 1,000
SWITCHES = int(os.environ.get("PERF_SWITCHES", "200"))

# Beyond this, more memory than one hostile instance may cost
MEMORY_ALLOWANCE = 256 * 1024 * 1024


# ---- An engine that hangs ------------------------------------------------------------------------


@pytest.mark.parametrize("probe", [True, False])
def test_an_instance_is_in_flight_for_as_long_as_an_engine_has_it(
    start_orthanc: StartOrthanc, probe: bool
) -> None:
    """The engine's time limit for the image is beyond the patience that an instance has."""
    orthanc = start_orthanc(perf={"SocketProbe": probe})
    list_engines(orthanc)
    tune(orthanc, Engine="gdcm", TransferSyntax=RLE)
    images = []
    for size in (512, 2000):
        images.append(make_slice(f"hung-{size}", 0, 1, np.zeros((size, size), "<u2")))
        images[-1].Rows = images[-1].Columns = size
    clients.upload(orthanc, [write(images[0])])  # from now on, a program is at work

    with keep_children_still(orthanc.pid):
        ((status, body),) = clients.upload(orthanc, [write(images[1])])

    assert status == 200, body
    assert wait_until(lambda: len(orthanc.get_json("/perf/instances")) == 2)
    instance = orthanc.get_json("/perf/instances")[0]
    assert instance["Phases"]["Transcode"] > 8
    assert instance["Outcome"] == "Stored"
    assert instance["ID"] == json.loads(body)["ID"]
    assert instance["Transcoding"]["Outcome"] == "Failed"
    assert "Reason" in instance["Transcoding"]


# ---- Four senders at once -----------------------------------------------------------------------


def list_transcode_intervals(server: OrthancServer) -> list[tuple[float, float]]:
    """When a transcoder was at work, as the phases of the finished instances tell."""
    intervals = []
    for instance in server.get_json("/perf/instances"):
        phases = instance["Phases"]
        later = ["Prepare", "Storage", "Index", "Commit", "Respond"]
        end = read_moment(instance["FinishedAt"])
        end -= sum(phases.get(phase, 0) for phase in later)
        intervals.append((end - phases["Transcode"], end))
    return intervals


def count_most_at_once(intervals: list[tuple[float, float]], tolerance: float = 0.001) -> int:
    """How many overlapped; what overlaps by less than the tolerance does not count."""
    marks = [(begin + tolerance, 1) for begin, _ in intervals]
    marks += [(max(end - tolerance, begin + tolerance), -1) for begin, end in intervals]
    return max(itertools.accumulate(step for _, step in sorted(marks)))


@pytest.mark.alone
@pytest.mark.parametrize("probe", [True, False])
def test_instances_are_transcoded_in_parallel_unless_the_lock_stays(
    start_orthanc: StartOrthanc, make_series: MakeSeries, probe: bool
) -> None:
    orthanc = start_orthanc(perf={"SocketProbe": probe})
    tune(orthanc, TransferSyntax=JPEG_2000_LOSSLESS, Engine="gdcm")
    images = make_series("store", 20)
    clients.upload(orthanc, [image.read_bytes() for image in images], SENDERS)

    lock = orthanc.get_json("/perf/status")["Transcoding"]["PluginLock"]
    assert lock["Known"] is probe
    assert lock["Released"] == (len(images) if probe else 0)
    assert lock["Kept"] == (0 if probe else len(images))
    assert ("Reason" in lock) is not probe
    assert len(orthanc.get_json("/instances")) == len(images)
    at_once = count_most_at_once(list_transcode_intervals(orthanc))
    assert at_once > 1 if probe else at_once == 1


def test_hundreds_of_jpeg_ls_instances_from_four_senders(
    orthanc: OrthancServer, make_series: MakeSeries
) -> None:
    tune(orthanc, TransferSyntax=JPEG_LS, Engine="gdcm")
    images = make_series("store", 200)
    with ThreadPoolExecutor(SENDERS) as pool:
        shares = [images[sender::SENDERS] for sender in range(SENDERS)]
        list(pool.map(lambda share: clients.store(orthanc, share), shares))
    names = orthanc.get_json("/instances")
    assert len(names) == len(images)
    assert {transcoding["Outcome"] for transcoding in list_transcodings(orthanc)} == {"Transcoded"}
    for image in images[::20]:
        stored = read_stored(orthanc, orthanc.find_instance(image.sop_instance_uid))
        assert get_syntax(stored) == JPEG_LS
        assert np.array_equal(decode(stored), decode(read(image.path)))


class Sender:
    """Sends images that nobody sent before, by C-STORE or over HTTP, until it is told to stop."""

    def __init__(self, server: OrthancServer, folder: Path, number: int) -> None:
        self.sent: dict[str, np.ndarray] = {}
        self._server = server
        self._folder = folder
        self._generator = np.random.default_rng(number)
        self._number = number
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        by = self._store_all if number % 2 else self._upload_all
        self._thread = threading.Thread(target=self._run, args=(by,))
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(120)
        if self._failure is not None:
            raise self._failure

    def _run(self, send: Callable[[], None]) -> None:
        try:
            send()
        except BaseException as failure:
            self._failure = failure

    def _make_next(self) -> FileDataset:
        pixels = self._generator.integers(0, 4096, (64, 48), dtype="<u2")
        number = len(self.sent)
        image = make_slice(f"switches-{self._number}", number, 1000, pixels)
        image.Rows, image.Columns = pixels.shape
        self.sent[image.SOPInstanceUID] = pixels
        return image

    def _upload_all(self) -> None:
        with closing(clients.Uploader(self._server)) as uploader:
            while not self._stop.is_set():
                status, answer = uploader.upload(write(self._make_next()))
                assert status == 200, answer

    def _store_all(self) -> None:
        """By storescu: pynetdicom 3.0.4 now and then misses a response if the next request follows
        at once, as its reactor takes it for a message of the peer's."""
        while not self._stop.is_set():
            images = []
            for _ in range(IMAGES_PER_ASSOCIATION):
                image = self._make_next()
                path = self._folder / f"{self._number}-{len(self.sent)}.dcm"
                path.write_bytes(write(image))
                images.append(Image(path, image.SOPInstanceUID))
            clients.store(self._server, images)


def test_switching_engine_and_target_loses_nothing(orthanc: OrthancServer, tmp_path: Path) -> None:
    engines = list_engines(orthanc)
    engines["auto"] = set.union(*engines.values())
    choices = [
        {"Engine": engine, "TransferSyntax": syntax}
        for engine, written in sorted(engines.items())
        for syntax in ["", *sorted(written & set(LOSSLESS))]
    ]
    dice = random.Random(1)
    senders = [Sender(orthanc, tmp_path, number) for number in range(SENDERS)]
    for _ in range(SWITCHES):
        tune(orthanc, **dice.choice(choices), Verify=dice.random() < 0.2)
    for sender in senders:
        sender.stop()

    stored = orthanc.get_json("/instances")
    sent = {uid: pixels for sender in senders for uid, pixels in sender.sent.items()}
    assert len(stored) == len(sent)
    syntaxes = set()
    for name in stored:
        image = read_stored(orthanc, name)
        assert np.array_equal(decode(image), sent.pop(image.SOPInstanceUID))
        syntaxes.add(get_syntax(image))
    assert not sent
    assert len(syntaxes) > 3


def test_orthanc_stops_while_it_transcodes(
    start_orthanc: StartOrthanc, make_series: MakeSeries
) -> None:
    orthanc = start_orthanc()
    tune(orthanc, TransferSyntax=JPEG_2000_LOSSLESS, Engine="gdcm")
    contents = [image.read_bytes() for image in make_series("store", 20)]

    def upload_share(sender: int) -> None:
        with suppress(OSError):  # the server goes
            clients.upload(orthanc, contents[sender::SENDERS])

    with ThreadPoolExecutor(SENDERS) as pool:
        running = [pool.submit(upload_share, sender) for sender in range(SENDERS)]
        assert wait_until(lambda: bool(orthanc.get_json("/instances")))
        assert orthanc.stop() == 0, orthanc.log
        for upload in running:
            upload.result()
    orthanc.start()
    for name in orthanc.get_json("/instances"):
        assert decode(read_stored(orthanc, name)).shape == (512, 512)


# ---- Orthanc without memory ----------------------------------------------------------------------

# A malloc that has none of so many bytes
NO_MEMORY = """
#include <stdlib.h>
extern void* __libc_malloc(size_t);
void* malloc(size_t size)
{
  static size_t refused = 0;
  if (refused == 0)
  {
    refused = strtoul(getenv("REFUSED_SIZE"), NULL, 10);
  }
  return size == refused ? NULL : __libc_malloc(size);
}
"""


def test_what_orthanc_has_no_memory_for_has_failed_and_stays_as_it_came(
    start_orthanc: StartOrthanc, make_series: MakeSeries, tmp_path: Path
) -> None:
    (image,) = make_series("store", 1)
    first = start_orthanc()
    tune(first, Engine="native", TransferSyntax=JPEG_LOSSLESS_SV1)
    clients.store(first, [image])
    (transcoded,) = list_transcodings(first)
    assert transcoded is not None and transcoded["Outcome"] == "Transcoded"
    first.stop()

    library = tmp_path / "malloc.so"
    command = ["cc", "-shared", "-fPIC", "-xc", "-", "-o", library]
    subprocess.run(command, input=NO_MEMORY.encode(), check=True, timeout=60)
    environment = {"LD_PRELOAD": str(library), "REFUSED_SIZE": str(transcoded["Size"])}
    orthanc = start_orthanc(environment=environment)
    orthanc.delete_all()
    tune(orthanc, Engine="native", TransferSyntax=JPEG_LOSSLESS_SV1)
    clients.store(orthanc, [image])
    (failed,) = list_transcodings(orthanc)
    assert failed is not None and failed["Outcome"] == "Failed", failed
    assert "Orthanc does not take the result" in failed["Reason"]
    stored = read_stored(orthanc, orthanc.find_instance(image.sop_instance_uid))
    assert get_syntax(stored) == EXPLICIT


# ---- Hostile pixel data -------------------------------------------------------------------------

Edit = Callable[[FileDataset], None]

COMPRESSED = [
    "SC_rgb_jpeg_gdcm.dcm",  # JPEG Lossless SV1
    "SC_rgb_jpeg_dcmtk.dcm",  # JPEG Baseline
    "JPGExtended.dcm",
    "MR_small_jpeg_ls_lossless.dcm",
    "MR_small_jp2klossless.dcm",
    "MR_small_RLE.dcm",
]


def get_frame(image: FileDataset) -> bytes:
    return next(generate_frames(image.PixelData, number_of_frames=1))


def cut_the_frame(image: FileDataset) -> None:
    frame = get_frame(image)
    image.PixelData = encapsulate([frame[: len(frame) // 2]])


def leave_ten_bytes(image: FileDataset) -> None:
    image.PixelData = encapsulate([get_frame(image)[:10]])


def spoil_some_bytes(image: FileDataset) -> None:
    dice = random.Random(2)
    frame = bytearray(get_frame(image))
    for _ in range(max(4, len(frame) // 100)):
        frame[dice.randrange(2, len(frame))] = dice.randrange(256)
    image.PixelData = encapsulate([bytes(frame)])


def fill_with_ff(image: FileDataset) -> None:
    image.PixelData = encapsulate([b"\xff" * 1000])


def give_no_fragment(image: FileDataset) -> None:
    image.PixelData = b"\xfe\xff\x00\xe0\0\0\0\0"


def lie_in_the_offset_table(image: FileDataset) -> None:
    frame = get_frame(image)
    frame += b"\0" * (len(frame) % 2)
    table = b"\xfe\xff\x00\xe0\x08\0\0\0" + b"\xff\xff\xff\x7f\xf0\xff\xff\xff"
    item = b"\xfe\xff\x00\xe0" + len(frame).to_bytes(4, "little")
    image.PixelData = table + item + frame


def lie_in_the_extended_offset_table(image: FileDataset) -> None:
    image.PixelData, _, _ = encapsulate_extended([get_frame(image)])
    image.ExtendedOffsetTable = b"\xff" * 8
    image.ExtendedOffsetTableLengths = b"\xff" * 7 + b"\x7f"


def claim_the_largest_size(image: FileDataset) -> None:
    image.Rows = image.Columns = 65535


def claim_twice_the_size(image: FileDataset) -> None:
    image.Rows, image.Columns = image.Rows * 2, image.Columns * 2


def claim_no_size(image: FileDataset) -> None:
    image.Rows = 0


def claim_a_billion_frames(image: FileDataset) -> None:
    image.NumberOfFrames = 1000000000


def claim_minus_one_frame(image: FileDataset) -> None:
    image.NumberOfFrames = -1


def claim_other_bits(image: FileDataset) -> None:
    image.BitsAllocated, image.BitsStored, image.HighBit = 8, 16, 31


def claim_strange_samples(image: FileDataset) -> None:
    image.SamplesPerPixel = 4
    image.PlanarConfiguration = 7


COMPRESSED_EDITS = [
    cut_the_frame,
    leave_ten_bytes,
    spoil_some_bytes,
    fill_with_ff,
    give_no_fragment,
    lie_in_the_offset_table,
    lie_in_the_extended_offset_table,
    claim_the_largest_size,
    claim_twice_the_size,
    claim_no_size,
    claim_a_billion_frames,
    claim_minus_one_frame,
    claim_other_bits,
    claim_strange_samples,
]


def keep_ten_bytes(image: FileDataset) -> None:
    claim_the_largest_size(image)
    image.PixelData = bytes(10)


def keep_none(image: FileDataset) -> None:
    image.PixelData = b""


UNCOMPRESSED_EDITS = [
    keep_ten_bytes,
    keep_none,
    claim_twice_the_size,
    claim_no_size,
    claim_a_billion_frames,
    claim_minus_one_frame,
    claim_other_bits,
    claim_strange_samples,
]


def make_hostile_files() -> list[tuple[str, bytes]]:
    """Names and contents, each with an identity of its own."""

    def make(name: str, edit: Edit) -> tuple[str, bytes]:
        def apply(image: FileDataset) -> None:
            renew(image)
            edit(image)

        return f"{name}: {edit.__name__}", change(Path(get_testdata_file(name)), apply)

    files = [make(name, edit) for name in COMPRESSED for edit in COMPRESSED_EDITS]
    uncompressed = ["CT_small.dcm", "SC_rgb_small_odd.dcm", "MR_small_implicit.dcm"]
    files += [make(name, edit) for name in uncompressed for edit in UNCOMPRESSED_EDITS]

    # What pydicom would not write: files that end in the middle of the pixel data
    for name in COMPRESSED:
        whole = change(Path(get_testdata_file(name)), renew)
        files.append((f"{name}: the file ends early", whole[: len(whole) - len(whole) // 4]))
    return files


def upload_and_read_back(server: OrthancServer, name: str, content: bytes) -> tuple[int, bytes]:
    """Uploads; the status, and the file as stored (empty if it was refused)."""
    response = server.request("POST", "/instances", data=content)
    assert server.get("/system").status_code == 200, f"after {name}"
    if response.status_code != 200:
        return response.status_code, b""
    return 200, server.get_file(response.json()["ID"])


@pytest.mark.parametrize("engine", [*ENGINES, "auto"])
def test_hostile_pixel_data_is_stored_as_without_the_plugin(
    start_orthanc: StartOrthanc, tmp_path: Path, engine: str
) -> None:
    plain_folder = tmp_path / "plain"
    plain_folder.mkdir()
    orthanc = start_orthanc()
    written = list_engines(orthanc).get(engine, {JPEG_LOSSLESS_SV1})
    targets = [s for s in (JPEG_LOSSLESS_SV1, JPEG_LS, RLE, EXPLICIT) if s in written]
    pid = orthanc.pid
    memory = get_resident_bytes(pid)

    with OrthancServer(plain_folder) as plain:
        for name, content in make_hostile_files():
            expected = upload_and_read_back(plain, name, content)
            for target in targets:
                tune(orthanc, Engine=engine, TransferSyntax=target, OfCompressed=True)
                status, stored = upload_and_read_back(orthanc, name, content)
                assert status == expected[0], name
                if status == 200:
                    check_unharmed(orthanc, name, content, stored, target)
                    orthanc.delete_all()
    assert orthanc.pid == pid
    assert get_resident_bytes(pid) - memory < MEMORY_ALLOWANCE
    assert orthanc.get_json("/perf/status")["CallbackFailures"] == {}


def check_unharmed(
    server: OrthancServer, name: str, content: bytes, stored: bytes, target: UID
) -> None:
    """As received, with a reason; or transcoded to what an independent reader sees in the source,
    as far as it sees anything there."""
    transcoding = list_transcodings(server, 1)[0]
    if stored == content:
        if transcoding is not None:
            assert transcoding["Outcome"] in ("Failed", "Declined"), name
            assert transcoding["Reason"], name
        return
    assert transcoding["Outcome"] == "Transcoded", name
    assert get_syntax(read(stored)) == target, name
    try:
        expected = decode(read(content))
    except Exception:
        return  # the source can be read as anything
    difference = np.abs(decode(read(stored)).astype(int) - expected)
    # Decoders of lossy JPEG may round as they like (ITU-T T.83), and interpolate colour
    is_lossy = get_syntax(read(content)) in LOSSY
    assert difference.mean() < 1 if is_lossy else not difference.any(), name


# ---- Colours ------------------------------------------------------------------------------------

COMMENT_SIZE = 40_000  # more than a frame, so that no result is larger than what came
JFIF_SEGMENT = 2 + 16  # behind SOI: the marker, and its length


def make_colours(label: str, *frames: bytes) -> bytes:
    """100 x 100 pixels of RGB or YCbCr in JPEG Baseline, whatever the label says."""

    def edit(image: FileDataset) -> None:
        renew(image)
        image.PhotometricInterpretation = label
        image.NumberOfFrames = len(frames)
        image.PixelData = encapsulate([add_comment(frame, COMMENT_SIZE) for frame in frames])

    return change(Path(get_testdata_file("SC_rgb_jpeg_dcmtk.dcm")), edit)


def list_colours() -> list[tuple[str, bytes, bool]]:
    """Images of colour, and whether stream and label agree."""
    ycc = get_frame(read(Path(get_testdata_file("SC_rgb_jpeg_dcmtk.dcm"))))  # JFIF
    without_marker = ycc[:2] + ycc[2 + JFIF_SEGMENT :]
    rgb = get_frame(read(Path(get_testdata_file("SC_rgb_dcmtk_+eb+cr.dcm"))))  # Adobe's marker
    return [
        ("JFIF, YBR_FULL", make_colours("YBR_FULL", ycc), True),
        ("no marker, YBR_FULL_422", make_colours("YBR_FULL_422", without_marker), True),
        ("some with marker, YBR_FULL", make_colours("YBR_FULL", ycc, without_marker), True),
        ("Adobe's marker, RGB", make_colours("RGB", rgb), True),
        ("JFIF, RGB", make_colours("RGB", ycc), False),
        ("no marker, RGB", make_colours("RGB", without_marker), False),
        ("Adobe's marker, YBR_FULL", make_colours("YBR_FULL", rgb), False),
        ("frames of both", make_colours("RGB", rgb, ycc), False),
        ("frames of both", make_colours("YBR_FULL", ycc, rgb), False),
    ]


@pytest.mark.parametrize("target", [EXPLICIT, JPEG_LOSSLESS_SV1, JPEG_LS])
@pytest.mark.parametrize("engine", [*ENGINES, "auto"])
def test_colours_stay_what_a_viewer_saw(orthanc: OrthancServer, engine: str, target: UID) -> None:
    if target not in list_engines(orthanc).get(engine, {target}):
        pytest.skip(f"{engine} does not write {target.name}")
    tune(orthanc, Engine=engine, TransferSyntax=target, OfCompressed=True)
    for name, content, is_agreed in list_colours():
        _, stored = upload_and_read_back(orthanc, name, content)
        transcoding = list_transcodings(orthanc, 1)[0]
        if is_agreed and "YBR" in name and transcoding["Outcome"] == "Declined":
            assert "Orthanc would show" in transcoding["Reason"]  # test_pictures.py has which
            assert stored == content
        elif is_agreed:
            assert transcoding["Outcome"] == "Transcoded", (name, transcoding)
            check_unharmed(orthanc, name, content, stored, target)
        else:
            assert transcoding["Outcome"] == "Declined", (name, transcoding)
            assert "colours" in transcoding["Reason"]
            assert stored == content
