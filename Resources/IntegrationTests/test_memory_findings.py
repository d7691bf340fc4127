# SPDX-License-Identifier: GPL-3.0-or-later
"""What /perf/advice says of memory comes where it is true, and its remedy ends it."""

from pathlib import Path

import pytest

from harness import advice, memory_group
from harness.images import write_multi_frame
from harness.large import MEBIBYTE, get_memory
from harness.ledger import Answer, Ledger
from harness.orthanc import OrthancServer

# One image by C-STORE takes three times its size, which is most of that, and not all
GROUP_BYTES = 900 * MEBIBYTE
GROUP_FRAMES = 476  # 250 MB


@pytest.mark.alone
def test_memory_that_large_images_take_is_found_and_the_remedy_limits_it(
    plugin: Path, tmp_path: Path
) -> None:
    """In a control group that has enough for one, and not for two."""
    obstacle = memory_group.find_obstacle()
    if obstacle:
        pytest.skip(obstacle)
    image = write_multi_frame(tmp_path / "large.dcm", "large", GROUP_FRAMES)
    with (
        memory_group.limit_memory(GROUP_BYTES) as launcher,
        OrthancServer(tmp_path, [plugin], launcher=launcher) as server,
    ):
        assert Ledger().send(server, [image], 120) == {Answer.ACKNOWLEDGED: 1}
        finding = advice.find(server, "ingest-memory")
        evidence = finding["Evidence"]
        assert evidence["Memory"] == GROUP_BYTES
        assert evidence["Peak"] >= 0.75 * GROUP_BYTES
        assert evidence["MeanSize"] == pytest.approx(image.get_size(), rel=0.01)
        assert get_memory(server)["IngestBudget"] == 0

        advice.apply(server, finding)
        assert get_memory(server)["IngestBudget"] == pytest.approx(GROUP_BYTES / 4, abs=100)
        assert advice.goes_away(server, "ingest-memory")
