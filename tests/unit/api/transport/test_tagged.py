"""Who is sent compressed bodies."""

import pytest

from sederunt.api.transport.tagged import takes_gzip


@pytest.mark.parametrize(
    ("accept_encoding", "takes"),
    [
        ("", False),
        ("identity", False),
        ("gzip", True),
        ("GZIP, deflate, br", True),
        ("br;q=1.0, gzip;q=0.8, *;q=0.1", True),
        ("gzip ; q=0.5", True),
        ("*", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000, br", False),
        ("xgzip, gzipped", False),
        (",;,", False),
    ],
)
def test_what_a_caller_says_of_compressed_bodies(accept_encoding: str, takes: bool) -> None:
    assert takes_gzip(accept_encoding) is takes
