"""Check whether a vendor accepts a key when somebody enters it, by the vendor's cheapest call that needs one."""

import asyncio
from dataclasses import dataclass
from enum import StrEnum

from sederunt import log
from sederunt.errors import ProviderError, ProviderFault, SetupError
from sederunt.settings import Settings
from sederunt.transcription.access import Access
from sederunt.transcription.models import providers
from sederunt.transcription.plugins import provider

logger = log.get(component="accounts")

_REJECTED = frozenset({ProviderFault.AUTH, ProviderFault.PAYMENT})


class KeyVerdict(StrEnum):
    """A vendor's answer about a key."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNREACHABLE = "unreachable"  # it said nothing about the key


@dataclass(frozen=True, slots=True)
class CheckedKey:
    """A verdict, and a sentence for people."""

    verdict: KeyVerdict
    message: str


async def checked_key(settings: Settings, name: str, access: Access) -> CheckedKey:
    """Ask the vendor of this name about a key."""
    title, vendor_account = providers()[name].title, provider(name).account
    if vendor_account is None:
        return CheckedKey(KeyVerdict.ACCEPTED, f"{title} needs no key.")
    try:
        await asyncio.to_thread(vendor_account.check, settings, access.carried())
    except ProviderError as error:
        is_rejected = error.kind in _REJECTED
        return CheckedKey(KeyVerdict.REJECTED if is_rejected else KeyVerdict.UNREACHABLE, str(error))
    except SetupError as error:
        return CheckedKey(KeyVerdict.UNREACHABLE, str(error))
    return CheckedKey(KeyVerdict.ACCEPTED, f"{title} accepts this key.")
