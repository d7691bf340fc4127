# SPDX-License-Identifier: GPL-3.0-or-later
"""What /perf/advice says of memory in a small control group, and that its remedies end it."""

from pathlib import Path

import pytest

from harness import advice
from harness.images import write_multi_frame
from harness.large import MEBIBYTE, get_memory
from harness.ledger import Answer, Ledger
from harness.memory_group import find_obstacle, limit_memory
from harness.metrics import PREFIX, scrape
from harness.orthanc import OrthancServer

# One image by C-STORE takes three times its size, which is most of that, and not all
GROUP_BYTES = 900 * MEBIBYTE
GROUP_FRAMES = 476  # 250 MB

pytestmark = pytest.mark.skipif(find_obstacle() is not None, reason=f"{find_obstacle()}")


def test_caches_that_outgrow_a_container_are_found_and_the_remedy_ends_it(
    plugin: Path, tmp_path: Path
) -> None:
    with (
        limit_memory(250 * MEBIBYTE) as launcher,
        OrthancServer(tmp_path, plugins=[plugin], launcher=launcher) as server,
    ):
        finding = advice.find(server, "memory-limit")
        assert finding["Evidence"]["Memory"] == 250 * MEBIBYTE
        assert finding["Evidence"]["MaximumStorageCacheSize"] == 128 * MEBIBYTE
        advice.configure(server, finding)
        assert "memory-limit" not in advice.list_kinds(server)


@pytest.mark.alone
def test_memory_that_large_images_take_is_found_and_the_remedy_limits_it(
    plugin: Path, tmp_path: Path
) -> None:
    """In a control group that has enough for one, and not for two."""
    image = write_multi_frame(tmp_path / "large.dcm", "large", GROUP_FRAMES)
    with (
        limit_memory(GROUP_BYTES) as launcher,
        OrthancServer(tmp_path, plugins=[plugin], launcher=launcher) as server,
    ):
        assert Ledger().send(server, [image], 120) == {Answer.ACKNOWLEDGED: 1}
        finding = advice.find(server, "ingest-memory")
        evidence = finding["Evidence"]
        assert evidence["Memory"] == GROUP_BYTES
        assert evidence["Peak"] >= 0.75 * GROUP_BYTES
        assert evidence["MeanSize"] == pytest.approx(image.get_size(), rel=0.01)
        assert get_memory(server)["IngestBudget"] == 0

        advice.apply(server, finding)
        memory = get_memory(server)
        assert memory["Limit"] == GROUP_BYTES
        assert memory["IngestBudget"] == pytest.approx(GROUP_BYTES / 4, abs=100)
        assert server.get_json("/perf/tuning")["Memory"]["IngestBudget"] == "25%"
        # A number of bytes would be the group's as well as the machine's
        assert scrape(server).sum(PREFIX + "tuning", setting="Memory.IngestBudget") == 0
        assert advice.goes_away(server, "ingest-memory")
