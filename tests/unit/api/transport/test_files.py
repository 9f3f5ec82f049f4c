"""Which downloads are sent on to the bucket."""

import pytest

from sederunt.api.transport.files import may_redirect


@pytest.mark.parametrize(
    ("method", "headers", "expected"),
    [
        ("GET", {}, True),
        ("GET", {"sec-fetch-site": "none"}, True),
        ("GET", {"sec-fetch-site": "cross-site"}, True),
        ("GET", {"sec-fetch-site": "same-origin"}, False),
        ("HEAD", {}, False),
    ],
)
def test_downloads_go_to_the_bucket_but_for_the_player(method: str, headers: dict[str, str], expected: bool) -> None:
    assert may_redirect(method, headers) is expected
