"""Every error the service raises on purpose.

SederuntError
├── RequestError            the caller's fault
│   ├── InvalidConfig         fields: {name: [sentence]}
│   ├── NotFound · Unauthorized · Forbidden · LimitReached · TooLarge · TooManyRequests
│   ├── SignInFailed          the organisation's provider did not say who somebody is
│   ├── KeyReused             an Idempotency-Key that was sent with another request
│   └── Conflict              status, attempted act
├── PageError               PageChanged · PageStuck · PageCrashed
├── ProviderError           a vendor's or credential's fault; retryable yes or no
├── DestinationError        a webhook target's or a fetched address's fault; retryable yes or no
├── ObjectMissing           what was stored is not there any more
├── StorageMissing          the bucket itself is not there: for now, nothing can be said about its objects
├── MediaError              UnsupportedMedia · BrokenMedia
├── Cancelled               the caller asked for the work to stop
├── SetupError              this installation lacks something; the sentence says what to do
└── Superseded              another holder owns the bot now

An exception is a name and a sentence: raised where the facts are known, translated once where the answer leaves.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum


class SederuntError(Exception):
    """The root of all our errors."""


class RequestError(SederuntError):
    """The caller's fault. `status` is the HTTP status it becomes."""

    status = 400


class InvalidConfig(RequestError):
    """All faults of one request at once: {field: [sentence, …]}, nested fields with dots."""

    def __init__(self, fields: Mapping[str, Sequence[str]]) -> None:
        self.fields = {name: list(sentences) for name, sentences in fields.items()}
        super().__init__(next((s for sentences in self.fields.values() for s in sentences), "Invalid request."))


class NotFound(RequestError):
    status = 404


class Unauthorized(RequestError):
    status = 401

    def __init__(self) -> None:
        super().__init__("Unauthenticated.")


class Forbidden(RequestError):
    status = 403


class LimitReached(RequestError):
    """A budget of the account is spent. `budget` is its name in `model/budgets`."""

    status = 403

    def __init__(self, message: str, budget: str) -> None:
        super().__init__(message)
        self.budget = budget


class SignInFailed(RequestError):
    """An OpenID provider did not answer, refused, or gave an answer that cannot be trusted."""


class Conflict(RequestError):
    status = 409


class KeyReused(RequestError):
    status = 422


class TooLarge(RequestError):
    status = 413


class TooManyRequests(RequestError):
    status = 429

    def __init__(self, message: str, retry_after_s: int, budget: str) -> None:
        super().__init__(message)
        self.retry_after_s, self.budget = retry_after_s, budget


class ObjectMissing(SederuntError, FileNotFoundError):
    """The storage answers, and has no such object."""


class StorageMissing(SederuntError):
    """The storage's server answers, and has no such bucket. No FileNotFoundError: nothing is known about objects."""


class Cancelled(SederuntError):
    """The caller asked for the work to stop; what was reported until then is complete."""


class PageError(SederuntError):
    """The meeting page did not do what was expected."""


class PageChanged(PageError):
    """An element that the journey needs is not where the evidence table says."""


class PageStuck(PageError):
    """The page did not answer within its deadline."""


class PageCrashed(PageError):
    """The renderer, or the browser, is gone."""


class ProviderFault(StrEnum):
    """The kinds of faults of vendors."""

    AUTH = "auth"  # the credential is not accepted
    PAYMENT = "payment"  # its account has no credit
    INVALID_REQUEST = "invalid_request"  # the vendor does not accept the request
    UNKNOWN_MODEL = "unknown_model"  # the vendor says that it has no such model
    MEDIA = "media"  # the vendor cannot use the sound
    RATE_LIMITED = "rate_limited"
    TRANSIENT = "transient"  # the network, or a fault that passes
    PROVIDER_FAILED = "provider_failed"  # the vendor took the job and could not do it
    IN_DOUBT = "in_doubt"  # the vendor may have done it and billed it; its answer is lost


class ProviderError(SederuntError):
    """A transcription vendor's or a credential's fault."""

    def __init__(
        self,
        message: str,
        *,
        retryable: bool,
        kind: ProviderFault = ProviderFault.PROVIDER_FAILED,
        status: int | None = None,  # the vendor's answer, if it gave one
        retry_after_s: float | None = None,  # as the vendor asked
    ) -> None:
        super().__init__(message)
        self.retryable, self.kind, self.status, self.retry_after_s = retryable, kind, status, retry_after_s


class DestinationError(SederuntError):
    """A webhook target's or a fetched address's fault."""

    def __init__(self, message: str, *, retryable: bool) -> None:
        super().__init__(message)
        self.retryable = retryable


class MediaError(SederuntError):
    """A file or stream that cannot be used."""


class UnsupportedMedia(MediaError):
    """Not one of the formats we take."""


class BrokenMedia(MediaError):
    """The right format, but damaged, empty, or encrypted."""


class SetupError(SederuntError):
    """This installation lacks something; the sentence says what to do."""


class BadAnswer(SederuntError):
    """The storage returned less than was stored, or something else."""


class Superseded(SederuntError):
    """Another holder owns the bot now: stop, write nothing more."""
