"""Checks beyond the request itself: the link fits the service, the model has a key, the account is the caller's."""

from collections.abc import Callable, Set
from dataclasses import dataclass
from uuid import UUID

from sederunt.accounts.credentials import CredentialStore
from sederunt.accounts.meeting_accounts import MeetingAccounts
from sederunt.api.schemas.faults import Faults, add
from sederunt.database.bots import Bots
from sederunt.errors import LimitReached, NotFound, SetupError
from sederunt.model.bot import BotConfig
from sederunt.model.recording import RecordingConfig
from sederunt.platforms.links import InvalidLink
from sederunt.platforms.registry import parse_link, platform_of, service_of_link, services_taking
from sederunt.platforms.sign_in_pages import AccountKind
from sederunt.settings import Settings
from sederunt.transcription.model_options import option_faults
from sederunt.transcription.models import (
    ModelRow,
    ProviderRow,
    batch_twin,
    find,
    is_live_here,
    missing_key,
    missing_provider,
    provider_of,
    providers,
)
from sederunt.transcription.plugins import is_installed, live_fault
from sederunt.transcription.plugins import provider as plug

_LINK = frozenset({"service", "meeting_url"})
_MODEL = frozenset({"transcription_model", "transcription_credentials"})
_WISHES = frozenset({"transcription_model", "lang", "custom_vocabulary"})
_FALLBACK = _MODEL | _WISHES | {"transcription_fallback"}
_ACCOUNT = frozenset({"service", "authentication"})


@dataclass(frozen=True, slots=True)
class Checks:
    """Adds faults to those of a request. Each check looks only at fields without faults so far."""

    settings: Settings
    credentials: CredentialStore
    meeting_accounts: MeetingAccounts

    async def live_room(self, config: BotConfig, bots: Bots) -> None:
        """Check that the bundled model has capacity for one more live bot. Raises LimitReached."""
        if not is_live_here(config.transcription_model):
            return
        most = self.settings.live.most_bots
        if sum(is_live_here(model) for model in await bots.all_accounts.models_at_work()) >= most:
            raise LimitReached(
                f"This installation transcribes {most} bots live at once, and they are at work: wait for one to end, "
                "choose a model that transcribes after the meeting, or let the operator raise SEDERUNT_LIVE__MAX_BOTS.",
                "live_bots",
            )

    async def bot(self, account_id: UUID, config: BotConfig, sent_fields: Set[str], faults: Faults) -> None:
        """Check a bot's configuration. Each check runs only if at least one of its fields is in `sent_fields`."""
        concerns = _concerns(sent_fields, faults)
        if concerns(_LINK):
            try:
                parse_link(config.service, config.meeting_url)
            except InvalidLink as error:
                add(faults, "meeting_url", f"{error}{_whose(config.meeting_url)}")
            except SetupError as error:
                add(faults, "service", str(error))
        if concerns(_MODEL):
            await self._check_model(account_id, config.transcription_model, config.transcription_credentials, faults)
        if concerns(_WISHES):
            _check_wishes(config, faults)
        if concerns(_FALLBACK):
            await self._check_fallback(account_id, config, faults)
        if concerns(_ACCOUNT):
            await self._check_account(account_id, config, faults)

    async def recording(self, account_id: UUID, config: RecordingConfig, faults: Faults) -> None:
        """Add the faults of a recording's configuration."""
        if _concerns(_MODEL, faults)(_MODEL):
            await self._check_model(account_id, config.transcription_model, config.transcription_credentials, faults)
        if _concerns(_WISHES, faults)(_WISHES):
            _check_wishes(config, faults)
        if _concerns(_FALLBACK, faults)(_FALLBACK):
            await self._check_fallback(account_id, config, faults)

    async def _check_model(self, account_id: UUID, model: str, credential_id: UUID | None, faults: Faults) -> None:
        row = find(model)
        provider = provider_of(row) if row else None
        if credential_id is not None:
            await self._check_credential(account_id, credential_id, row, provider, faults)
        if row is None or provider is None or _MODEL & set(faults):
            return
        if sentence := self._lacking(row, provider, has_key=credential_id is not None):
            add(faults, "transcription_model", sentence)

    def _lacking(self, row: ModelRow, provider: ProviderRow, *, has_key: bool) -> str:
        """Return everything that keeps a model from transcribing here, so that nobody buys a key in vain."""
        sentences = [] if is_installed(provider.name) else [missing_provider(provider)]
        if not has_key and provider.needs_key and not self._has_key(provider):
            sentences.append(missing_key(provider))
        if not sentences and (fault := self._fault(row, provider)):
            sentences.append(fault)
        return " ".join(sentences)

    async def _check_fallback(self, account_id: UUID, config: BotConfig | RecordingConfig, faults: Faults) -> None:
        """Add the faults of the fallback models, which are checked like the first model."""
        names = config.transcription_fallback or ()
        if not names:
            return
        first = find(config.transcription_model)
        if first is None or first.provider is None:
            add(faults, "transcription_fallback", "transcription_fallback was sent, but transcription_model is 'none'.")
            return
        rows = [row for name in names if (row := find(name)) is not None]
        if len({row.identifier for row in (batch_twin(first), *rows)}) <= len(rows):
            add(faults, "transcription_fallback", "transcription_fallback names a model that is tried before already.")
        own_provider = await self._provider_of_credential(account_id, config.transcription_credentials)
        for row in rows:
            provider = provider_of(row)
            if provider is None:
                continue
            if reason := self._lacking(row, provider, has_key=own_provider == provider.name):
                add(faults, "transcription_fallback", f"transcription_fallback cannot use {row.identifier}: {reason}")
            wish_faults = option_faults(row, provider.title, lang=config.lang, vocabulary=config.custom_vocabulary)
            for sentence in wish_faults.values():
                add(faults, "transcription_fallback", f"transcription_fallback cannot use {row.identifier}: {sentence}")

    async def _provider_of_credential(self, account_id: UUID, credential_id: UUID | None) -> str | None:
        if credential_id is None:
            return None
        try:
            return (await self.credentials.get(credential_id, account_id)).provider
        except NotFound:
            return None

    async def _check_credential(
        self, account_id: UUID, credential_id: UUID, row: ModelRow | None, provider: ProviderRow | None, faults: Faults
    ) -> None:
        try:
            credential = await self.credentials.get(credential_id, account_id)
        except NotFound:
            add(
                faults,
                "transcription_credentials",
                "transcription_credentials is not the id of one of your credentials.",
            )
            return
        if row is not None and (provider is None or credential.provider != provider.name):
            needed_key = f"one for {provider.title}" if provider is not None and provider.needs_key else "none"
            key_provider = providers().get(credential.provider)
            owner = key_provider.title if key_provider else credential.provider
            statement = f"transcription_credentials is the id of a key for {owner}"
            sentence = f"{statement}; {row.identifier} needs {needed_key}."
            add(faults, "transcription_credentials", sentence)

    def _fault(self, row: ModelRow, provider: ProviderRow) -> str | None:
        """Return why this installation cannot use a vendor's model. The bundled model is checked by each worker."""
        if not provider.needs_key:
            return None
        return plug(provider.name).fault(self.settings, row) or (
            live_fault(self.settings, row) if row.realtime else None
        )

    def _has_key(self, provider: ProviderRow) -> bool:
        provider_settings = self.settings.providers.get(provider.name)
        return provider_settings is not None and provider_settings.key is not None

    async def _check_account(self, account_id: UUID, config: BotConfig, faults: Faults) -> None:
        meeting_account_id = config.authentication.meeting_account_id if config.authentication else None
        if meeting_account_id is None:
            return
        name = "authentication.account_id"
        if (kind := platform_of(config.service).accounts.kind) is not AccountKind.SESSION:
            advice = "send authentication.zoom_zak_token" if kind is AccountKind.TOKEN else "there are no accounts"
            services = " and ".join(services_taking(AccountKind.SESSION))
            add(faults, name, f"{name} is for {services}; for {config.service} {advice}.")
            return
        try:
            account = await self.meeting_accounts.get(UUID(meeting_account_id), account_id)
        except (NotFound, ValueError):
            add(faults, name, f"{name} is not the id of one of your meeting accounts.")
            return
        if account.service != config.service:
            add(faults, name, f"{name} is an account for {account.service}; the bot's service is {config.service}.")


def _concerns(sent_fields: Set[str], faults: Faults) -> Callable[[frozenset[str]], bool]:
    """Return a predicate for a set of fields: at least one was sent, and none has a fault."""
    faulty_fields = {name.partition(".")[0] for name in faults}

    def ask(fields: frozenset[str]) -> bool:
        return not fields & faulty_fields and bool(fields & sent_fields)

    return ask


def _whose(link: str) -> str:
    """Return a hint if another service would accept the link."""
    try:
        return f" It is a link of '{service_of_link(link)}': send that as service."
    except InvalidLink:
        return ""


def _check_wishes(config: BotConfig | RecordingConfig, faults: Faults) -> None:
    row = find(config.transcription_model)
    provider = provider_of(row) if row else None
    if row is None or provider is None:
        return
    wish_faults = option_faults(row, provider.title, lang=config.lang, vocabulary=config.custom_vocabulary)
    for name, sentence in wish_faults.items():
        add(faults, name, sentence)
