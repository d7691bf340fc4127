# SPDX-License-Identifier: GPL-3.0-or-later
"""Resources/Documentation/tables/transcoding.md says what the engines do, and they do it right."""

from pathlib import Path

import pytest

from harness.matrix import DOCUMENT, Matrix, format_matrix, get_library_versions, measure
from harness.orthanc import OrthancServer
from harness.sources import make_sources


@pytest.fixture(scope="module")
def matrix(plugin: Path, tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    folder = tmp_path_factory.mktemp("matrix")
    with OrthancServer(folder, plugins=[plugin]) as server:
        return measure(server, list(make_sources(folder)))


def test_no_engine_changes_a_pixel_unasked(matrix: Matrix) -> None:
    assert matrix.list_wrong() == []


def test_the_document_is_what_the_engines_do(matrix: Matrix) -> None:
    text = DOCUMENT.read_text("utf-8")
    if get_library_versions() not in text:
        pytest.skip(f"the document is of other versions than {get_library_versions()}")
    assert format_matrix(matrix) == text
