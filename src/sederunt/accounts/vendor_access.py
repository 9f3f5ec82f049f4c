"""The key that a vendor is asked with: the caller's credential where one was sent, else the operator's own."""

from uuid import UUID

from sederunt.accounts.credentials import CredentialStore
from sederunt.errors import NotFound, ProviderError, ProviderFault
from sederunt.settings import Settings, variable
from sederunt.transcription.access import Access
from sederunt.transcription.rows import ProviderRow


class VendorAccess:
    """Opens keys at the moment at which they are needed; nothing keeps them."""

    def __init__(self, credentials: CredentialStore, settings: Settings) -> None:
        self._credentials, self._settings = credentials, settings

    async def of(self, account_id: UUID, credential_id: UUID | None, provider: ProviderRow) -> Access | None:
        """Return the access to a vendor; None for one that needs no key.

        Raises ProviderError (not retryable, `auth`) where there is no key any more: the credential was removed, or the
        operator took theirs back. SetupError where the key that seals credentials is gone.
        """
        if not provider.needs_key:
            return None
        if credential_id is None:
            return self._operators(provider)
        try:
            opened = await self._credentials.open(credential_id, account_id)
        except NotFound:
            raise _gone(f"The credential {credential_id} for {provider.title} was removed.") from None
        if opened.provider != provider.name:  # of a fallback: each vendor needs a key of its own
            return self._operators(provider)
        return Access(
            key=opened.key,
            label=f"the credential {credential_id}",
            region=opened.region,
            organisation=opened.organisation,
        ).carried()

    def _operators(self, provider: ProviderRow) -> Access:
        given, name = self._settings.providers.get(provider.name), variable("providers", provider.name, "key")
        if given is None or given.key is None or not given.key.get_secret_value().strip():
            raise _gone(f"There is no key for {provider.title}: {name} is not set.")
        label = f"the operator's key ({name})"
        key = given.key.get_secret_value()
        return Access(key=key, label=label, region=given.region, organisation=given.organisation).carried()


def _gone(sentence: str) -> ProviderError:
    return ProviderError(sentence, retryable=False, kind=ProviderFault.AUTH)
