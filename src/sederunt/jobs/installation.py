"""Sums up the heartbeats of all processes: which roles work, and how many seats the installation has. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sederunt.bus.heartbeat import OK, Heartbeat, Heartbeats, faults_of

# Without these no bot is seated, and no recording is processed.
NEEDED_ROLES = ("host", "worker")
STARTING_S = 30.0  # for this long after an api's own start, a role that it has not heard yet may be starting, too
NONE, SILENT, STARTING = "none", "silent", "starting"


@dataclass(frozen=True, kw_only=True, slots=True)
class Seats:
    """Places for bots on living hosts."""

    total: int = 0
    held: int = 0
    free: int = 0  # seats that hosts would fill right now, by their measured load
    cores: float = 0.0


def seats_of(hosts: Iterable[Heartbeat]) -> Seats:
    """Return the sum over hosts. A host that cannot work, or is about to end, has no free seats."""
    sums = {"total": 0, "held": 0, "free": 0}
    cores = 0.0
    for heartbeat in hosts:
        seats: Mapping[str, int] = heartbeat.facts.get("seats", {})
        is_usable = not faults_of(heartbeat)
        cores += float(heartbeat.facts.get("cores", 0)) if is_usable else 0.0
        for name in sums:
            sums[name] += int(seats.get(name, 0)) if is_usable or name == "held" else 0
    return Seats(**sums, cores=cores)


def role_words(heartbeats: Heartbeats, *, age_s: float) -> dict[str, str]:
    """Return the state of each required role: "ok", or what is wrong with it.

    A role is ok if one of its processes works; otherwise its state is the first fault of its first process.

    Args:
        age_s: how long this process has been listening.
    """
    return {role: _word(heartbeats, role, age_s) for role in NEEDED_ROLES}


def _word(heartbeats: Heartbeats, role: str, age_s: float) -> str:
    faults = [faults_of(heartbeat) for heartbeat in heartbeats.living(role)]
    if not faults:
        return SILENT if heartbeats.silent(role) else STARTING if age_s < STARTING_S else NONE
    if not all(faults):
        return OK
    part, word = next(iter(faults[0].items()))
    return f"{part} {word}"
