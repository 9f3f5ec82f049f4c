"""Which settings break what is promised of a host that is lost."""

from dataclasses import replace
from typing import Any

import pytest

from sederunt.bus.lease_timing import BusFacts, broken_promises
from sederunt.settings import BusSettings

DEFAULT = BusSettings()
ONE = BusFacts(
    ack_wait_s=DEFAULT.ack_wait_s,
    ack_wait_before_s=DEFAULT.ack_wait_s,
    replicas=DEFAULT.replicas,
    servers=1,
    local=True,
    version=(2, 12),
    max_payload=1 << 20,
)
CLUSTER = replace(ONE, servers=3, replicas=3, local=False)


@pytest.mark.parametrize("facts", [ONE, CLUSTER, replace(ONE, ack_wait_before_s=None), replace(ONE, ack_wait_s=2.0)])
def test_what_keeps_every_promise_is_not_spoken_of(facts: BusFacts) -> None:
    assert broken_promises(facts) == []


@pytest.mark.parametrize(
    ("facts", "changes", "words"),
    [
        (ONE, {"ack_wait_s": 15.0}, ("comes back after 31 s", "set 14 or less")),
        (CLUSTER, {"ack_wait_s": 2.0, "ack_wait_before_s": 2.0}, ("hosts would leave their meetings", "5.5 or more")),
        (CLUSTER, {"ack_wait_before_s": 9.0}, ("is 12 here, and another process said 9",)),
        (CLUSTER, {"replicas": 1}, ("There are 3 message servers", "SEDERUNT_BUS__REPLICAS to 3")),
        (CLUSTER, {"replicas": 2}, ("set 1 or 3",)),
        (ONE, {"version": (2, 9)}, ("NATS 2.9", "2.10 is the oldest")),
        (ONE, {"max_payload": 65_536}, ("65,536 bytes", "max_payload to 1MB")),
    ],
)
def test_what_breaks_a_promise_is_told_with_the_remedy(
    facts: BusFacts, changes: dict[str, Any], words: tuple[str, ...]
) -> None:
    (sentence,) = broken_promises(replace(facts, **changes))
    assert [word for word in words if word not in sentence] == []


def test_the_longest_ack_wait_that_is_advised_keeps_the_promise() -> None:
    assert broken_promises(replace(ONE, ack_wait_s=14.0)) == []
