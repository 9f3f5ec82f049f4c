"""Pictures that callers name by an address."""

from uuid import uuid4

import pytest

from sederunt.accounting import Ledger
from sederunt.errors import DestinationError
from sederunt.media.readers import Readers
from sederunt.meetings.join.avatar import picture_at


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:1/me.png", "http://[::1]/me.png", "http://169.254.169.254/latest", "file:///etc/passwd"],
)
async def test_a_picture_on_a_private_network_is_not_fetched(address: str) -> None:
    with pytest.raises(DestinationError):
        await picture_at(address, uuid4(), Readers(Ledger()), allow_private=False)
