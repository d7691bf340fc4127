# SPDX-License-Identifier: GPL-3.0-or-later
"""Orthanc with its index in PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import MakeSeries, StartOrthanc
from harness.certificates import Certificate
from harness.clients import store
from harness.orthanc import DICOMWEB_PLUGIN
from harness.postgresql import POSTGRESQL_PLUGIN, PostgreSqlServer

COUNT = 5


@pytest.fixture(scope="module")
def postgresql(certificate: Certificate) -> Iterator[PostgreSqlServer]:
    with PostgreSqlServer(certificate) as server:
        yield server


def test_the_index_is_in_the_database(
    start_orthanc: StartOrthanc, postgresql: PostgreSqlServer, make_series: MakeSeries, plugin: Path
) -> None:
    images = make_series("database", COUNT)
    server = start_orthanc(
        plugins=[plugin, POSTGRESQL_PLUGIN, DICOMWEB_PLUGIN], options=postgresql.get_options()
    )
    store(server, images)

    assert server.get_json("/statistics")["CountInstances"] == COUNT
    assert postgresql.query("SELECT COUNT(*) FROM Resources WHERE resourceType = 3") == [
        [str(COUNT)]
    ]
