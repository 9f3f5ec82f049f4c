"""The key for a vendor: the caller's credential if there is one, else the operator's own."""

from uuid import UUID

from sederunt.accounts.credentials import CredentialStore
from sederunt.errors import NotFound, ProviderError, ProviderFault
from sederunt.settings import Settings, variable
from sederunt.transcription.access import Access
from sederunt.transcription.rows import ProviderRow


class VendorAccess:
    """Opens keys only when they are needed, and does not keep them."""

    def __init__(self, credentials: CredentialStore, settings: Settings) -> None:
        self._credentials, self._settings = credentials, settings

    async def of(self, account_id: UUID, credential_id: UUID | None, provider: ProviderRow) -> Access | None:
        """Return the access to a vendor; None for one that needs no key.

        Raises ProviderError (not retryable, `auth`) if there is no key any more: the credential was removed, or the
        operator withdrew theirs. Raises SetupError if the key that seals credentials is gone.
        """
        if not provider.needs_key:
            return None
        if credential_id is None:
            return self._operators(provider)
        try:
            credential = await self._credentials.open(credential_id, account_id)
        except NotFound:
            raise _gone(f"The credential {credential_id} for {provider.title} was removed.") from None
        if credential.provider != provider.name:  # a fallback model: each vendor needs a key of its own
            return self._operators(provider)
        return Access(
            key=credential.key,
            label=f"the credential {credential_id}",
            region=credential.region,
            organisation=credential.organisation,
        ).carried()

    def _operators(self, provider: ProviderRow) -> Access:
        vendor, name = self._settings.providers.get(provider.name), variable("providers", provider.name, "key")
        if vendor is None or vendor.key is None or not vendor.key.get_secret_value().strip():
            raise _gone(f"There is no key for {provider.title}: {name} is not set.")
        label = f"the operator's key ({name})"
        key = vendor.key.get_secret_value()
        return Access(key=key, label=label, region=vendor.region, organisation=vendor.organisation).carried()


def _gone(sentence: str) -> ProviderError:
    return ProviderError(sentence, retryable=False, kind=ProviderFault.AUTH)
