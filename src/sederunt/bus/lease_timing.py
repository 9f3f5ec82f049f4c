"""Check settings of the message server and of our leases that would break the promised takeover time.

What a server believes of its connections does not matter (see `silent_holder`), so its pings are not checked. What
matters: the time after which a job goes to another holder, whether all processes use the same one, how many servers
keep the queues, and what a server can do.
"""

from dataclasses import dataclass

from sederunt.bus.connection import Bus
from sederunt.bus.embedded import OLDEST_SERVER
from sederunt.bus.silent_holder import MARGIN_S

BACK_S = 30.0  # within which a bot is in its meeting again, whatever became of its host
ELECTION_S = 9.0  # how long a cluster may take to elect another leader; nobody is answered meanwhile
LARGEST_BYTES = 1_000_000  # of one message of ours


@dataclass(frozen=True, kw_only=True, slots=True)
class BusFacts:
    """What a process found when it connected."""

    ack_wait_s: float
    ack_wait_before_s: float | None  # as another process had declared it; None if nobody had
    replicas: int
    servers: int  # that the client knows of
    local: bool  # every one of them on this machine
    version: tuple[int, int]
    max_payload: int


def facts_of(bus: Bus) -> BusFacts:
    """Return the facts about a connected bus."""
    client = bus.client
    version = client.connected_server_version
    return BusFacts(
        ack_wait_s=bus.settings.ack_wait_s,
        ack_wait_before_s=bus.ack_wait_before_s,
        replicas=bus.settings.replicas,
        servers=len({uri.netloc for uri in client.servers}),
        local=bus.local,
        version=(version.major, version.minor),
        max_payload=client.max_payload,
    )


def broken_promises(facts: BusFacts) -> list[str]:
    """Return a sentence for each promise that cannot be kept with these settings. Pure."""
    away_s, wait_s = 2 * facts.ack_wait_s + MARGIN_S, facts.ack_wait_s
    most_s = (BACK_S - MARGIN_S) // 2
    least_s = ELECTION_S / 2 + MARGIN_S
    before_s = facts.ack_wait_before_s
    oldest = ".".join(map(str, OLDEST_SERVER))
    rows = (
        (
            away_s > BACK_S,
            f"SEDERUNT_BUS__ACK_WAIT_S is {wait_s:g}: a bot whose host loses its power or its network comes back after "
            f"{away_s:g} s, and {BACK_S:g} are promised; set {most_s:g} or less.",
        ),
        (
            not facts.local and wait_s < least_s,
            f"SEDERUNT_BUS__ACK_WAIT_S is {wait_s:g}: while message servers agree on another leader (up to "
            f"{ELECTION_S:g} s) hosts would leave their meetings; set {least_s:g} or more.",
        ),
        (
            not facts.local and before_s is not None and before_s != wait_s,
            f"SEDERUNT_BUS__ACK_WAIT_S is {wait_s:g} here, and another process said {before_s or 0:g}: give all the "
            "same one, or a job is given on while its holder believes that it has time.",
        ),
        (
            facts.servers > 1 and facts.replicas == 1,
            f"There are {facts.servers} message servers, and each queue is kept by one alone: while that one is away, "
            "nobody is given its jobs. Set SEDERUNT_BUS__REPLICAS to 3.",
        ),
        (
            facts.replicas % 2 == 0,
            f"SEDERUNT_BUS__REPLICAS is {facts.replicas}: an even number outlives no more servers than the odd one "
            f"below it; set {facts.replicas - 1} or {facts.replicas + 1}.",
        ),
        (
            facts.version < OLDEST_SERVER,
            f"The message server is NATS {facts.version[0]}.{facts.version[1]}, and {oldest} is the oldest that can "
            "do all that is asked of it: upgrade it.",
        ),
        (
            facts.max_payload < LARGEST_BYTES,
            f"The message server takes messages of {facts.max_payload:,} bytes, and ours have up to "
            f"{LARGEST_BYTES:,}: set its max_payload to 1MB.",
        ),
    )
    return [sentence for is_broken, sentence in rows if is_broken]
