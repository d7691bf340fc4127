# SPDX-License-Identifier: GPL-3.0-or-later
"""Beside Debian's own orthanc-gdcm, which holds GDCM in Orthanc's process: its JPEG-LS is
DCMTK's, and crashes. Resources/Documentation/guide.md says what to do with it."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
import requests
from pydicom.data import get_testdata_file
from pydicom.dataset import FileDataset

from conftest import MakeSeries, StartOrthanc
from harness import clients
from harness.metrics import wait_until
from harness.orthanc import DEBIAN_PLUGINS, OrthancServer
from harness.transcoding import (
    JPEG_2000_LOSSLESS,
    JPEG_LS,
    change,
    decode,
    get_syntax,
    list_engines,
    list_transcodings,
    read,
    read_stored,
    renew,
    tune,
)

SENDERS = 4

# For previews of JPEG 2000, which only that plugin can do: the documentation says that ours has to
# be loaded first then
JPEG_2000_ONLY = {"RestrictTransferSyntaxes": ["1.2.840.10008.1.2.4.90", "1.2.840.10008.1.2.4.91"]}


@pytest.fixture(scope="session")
def orthanc_gdcm(plugin: Path) -> Path:
    """The plugin of the package, which Resources/setup.sh unpacks without installing it."""
    path = DEBIAN_PLUGINS / "libOrthancGdcm.so"
    if not path.exists():
        pytest.skip("orthanc-gdcm is not there: Resources/setup.sh unpacks it")
    return path


def start(
    start_orthanc: StartOrthanc, plugins: list[Path], gdcm: dict[str, Any] | None
) -> OrthancServer:
    orthanc = start_orthanc(
        plugins=plugins,
        options={} if gdcm is None else {"Gdcm": gdcm},
        perf={"Tuning": {"IngestTranscoding": {"OrthancTranscoding": True}}},
    )
    list_engines(orthanc)
    return orthanc


def transcode(orthanc: OrthancServer, instance_id: str, syntax: str) -> requests.Response:
    """By Orthanc's own means: it asks the plugins in the order in which they were loaded."""
    request = {"Replace": {"PatientName": "x"}, "Transcode": syntax}
    return orthanc.request("POST", f"/instances/{instance_id}/modify", json=request)


@pytest.mark.parametrize("is_first", [True, False])
def test_jpeg_ls_from_four_senders(
    start_orthanc: StartOrthanc,
    make_series: MakeSeries,
    plugin: Path,
    orthanc_gdcm: Path,
    is_first: bool,
) -> None:
    plugins = [plugin, orthanc_gdcm] if is_first else [orthanc_gdcm, plugin]
    orthanc = start(start_orthanc, plugins, None)
    tune(orthanc, TransferSyntax=JPEG_LS, Engine="gdcm")
    images = make_series("store", 80)
    with ThreadPoolExecutor(SENDERS) as pool:
        shares = [images[sender::SENDERS] for sender in range(SENDERS)]
        list(pool.map(lambda share: clients.store(orthanc, share), shares))
    assert len(orthanc.get_json("/instances")) == len(images)
    assert {transcoding["Outcome"] for transcoding in list_transcodings(orthanc)} == {"Transcoded"}
    for image in images[::20]:
        stored = read_stored(orthanc, orthanc.find_instance(image.sop_instance_uid))
        assert get_syntax(stored) == JPEG_LS
        assert np.array_equal(decode(stored), decode(read(image.path)))


@pytest.mark.parametrize(
    ("is_first", "gdcm"),
    [(True, {"Enable": False}), (False, {"Enable": False}), (True, JPEG_2000_ONLY)],
)
def test_what_orthanc_transcodes_itself_is_safe_as_documented(
    start_orthanc: StartOrthanc,
    plugin: Path,
    orthanc_gdcm: Path,
    is_first: bool,
    gdcm: dict[str, Any],
) -> None:
    plugins = [plugin, orthanc_gdcm] if is_first else [orthanc_gdcm, plugin]
    orthanc = start(start_orthanc, plugins, gdcm)
    tune(orthanc, Engine="gdcm")
    content = Path(get_testdata_file("CT_small.dcm")).read_bytes()
    instance = orthanc.upload(content)

    answer = transcode(orthanc, instance, JPEG_LS)
    assert answer.status_code == 200
    assert get_syntax(read(answer.content)) == JPEG_LS
    assert np.array_equal(decode(read(answer.content)), decode(read(content)))
    assert transcode(orthanc, instance, JPEG_2000_LOSSLESS).status_code == 200

    # So few pixels that the engine declines them: Orthanc asks the next one
    declined = orthanc.upload(change(content, cut_to_a_corner))
    transcode(orthanc, declined, JPEG_LS)
    assert orthanc.get_json("/system")["Version"]


def test_the_transcoder_is_switched_on_while_another_one_works(
    start_orthanc: StartOrthanc, plugin: Path, orthanc_gdcm: Path
) -> None:
    """Orthanc registers it under its plugin lock, when no transcoder is at work any more."""
    orthanc = start_orthanc(plugins=[orthanc_gdcm, plugin])
    list_engines(orthanc)
    tune(orthanc, TransferSyntax=JPEG_2000_LOSSLESS, Engine="gdcm")
    content = Path(get_testdata_file("CT_small.dcm")).read_bytes()
    instance = orthanc.upload(content)
    is_over = Event()
    answers: Counter[int] = Counter()

    def load(sender: int) -> None:
        other = change(content, renew)
        while not is_over.is_set():
            answers[sender] += transcode(orthanc, instance, JPEG_2000_LOSSLESS).status_code == 200
            orthanc.request("GET", f"/instances/{instance}/preview")
            orthanc.request("POST", "/instances", data=other)

    def have_two_more_answers() -> bool:
        before = dict(answers)
        return wait_until(
            lambda: all(answers[n] > before.get(n, 0) + 1 for n in range(SENDERS)), 60
        )

    with ThreadPoolExecutor(SENDERS) as pool:
        loads = [pool.submit(load, sender) for sender in range(SENDERS)]
        try:
            assert have_two_more_answers()
            tune(orthanc, OrthancTranscoding=True)
            assert have_two_more_answers()
        finally:
            is_over.set()
        for each in loads:
            each.result()
    assert orthanc.get_json("/perf/status")["Hooks"]["Transcoder"]["Installed"]


def cut_to_a_corner(image: FileDataset) -> None:
    image.Rows = image.Columns = 4
    image.PixelData = image.PixelData[:32]
    renew(image)
