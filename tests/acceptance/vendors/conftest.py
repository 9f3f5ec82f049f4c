"""One service beside all simulated vendors, which run as a process of their own, as vendors do."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping

import httpx2
import pytest

from harness.service import Service
from harness.vendors.catalogue import vendors_process
from harness.vendors.control import VendorControl

Vendors = Mapping[str, VendorControl]


@pytest.fixture(scope="module")
def vendors() -> Iterator[Vendors]:
    with vendors_process() as running:
        yield running


@pytest.fixture(scope="module")
def cloud(start_service: Callable[..., Service], vendors: Vendors) -> Service:
    """A service whose operator has a key of every vendor."""
    settings = {name: value for vendor in vendors.values() for name, value in vendor.settings.items()}
    return start_service(**settings)


@pytest.fixture
async def client(cloud: Service) -> AsyncIterator[httpx2.AsyncClient]:
    async with cloud.client() as client:
        yield client
