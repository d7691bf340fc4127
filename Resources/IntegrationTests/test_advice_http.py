# SPDX-License-Identifier: GPL-3.0-or-later
"""Advice about HTTP uploads, with a real client that takes compressed answers.

To compress the small answer to an upload takes so little that no machine was found on which it
holds uploads back. So it must not be blamed: the finding itself has unit tests only.
"""

import pytest
import requests

from conftest import MakeSeries
from harness import advice
from harness.metrics import wait_until
from harness.orthanc import OrthancServer

COUNT = 40

pytestmark = pytest.mark.alone


def test_compressed_answers_to_uploads_are_not_blamed_for_what_they_dont_cost(
    orthanc: OrthancServer, make_series: MakeSeries
) -> None:
    with requests.Session() as session:
        session.trust_env = False
        session.headers["Accept-Encoding"] = "gzip, deflate"
        answers = [
            session.post(f"{orthanc.url}/instances", data=content, timeout=60)
            for content in advice.read_all(make_series("advice", 60)[:COUNT])
        ]
    assert all(answer.json()["Status"] == "Success" for answer in answers)

    # Before that release answers of any size are compressed
    is_compressed = orthanc.is_older_than(1, 12, 2)
    encodings = {answer.headers.get("Content-Encoding") for answer in answers}
    assert encodings == {"gzip" if is_compressed else None}

    assert wait_until(lambda: advice.get_phases(orthanc)["Respond"]["Count"] == COUNT)
    assert "http-compression" not in advice.list_kinds(orthanc)
