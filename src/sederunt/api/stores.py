"""The stores of an account's own data, which handlers reach as `context.stores`."""

from dataclasses import dataclass

import httpx2

from sederunt.accounting import Ledger
from sederunt.accounts.credentials import CredentialStore
from sederunt.accounts.keys import Keys
from sederunt.accounts.meeting_accounts import MeetingAccounts
from sederunt.accounts.sealing import Sealer
from sederunt.accounts.sign_in import SignIns
from sederunt.accounts.webhook_secrets import WebhookSecrets
from sederunt.database.corrections import Corrections
from sederunt.database.delivery_lists import DeliveryLists
from sederunt.database.engine import Database
from sederunt.database.first_answers import FirstAnswers
from sederunt.database.search import Search
from sederunt.database.usage import Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiStores:
    """Everything of an account except bots and recordings."""

    keys: Keys
    credentials: CredentialStore
    meeting_accounts: MeetingAccounts
    webhook_secrets: WebhookSecrets
    deliveries: DeliveryLists
    usage: Usage
    first_answers: FirstAnswers
    search: Search
    corrections: Corrections
    sign_ins: SignIns
    sealer: Sealer
    client: httpx2.AsyncClient  # guarded, follows no redirects; for tests of webhook receivers


def open_stores(
    database: Database, sealer: Sealer, keys: Keys, client: httpx2.AsyncClient, ledger: Ledger
) -> ApiStores:
    """Open the stores of one process."""
    return ApiStores(
        keys=keys,
        credentials=CredentialStore(database, sealer),
        meeting_accounts=MeetingAccounts(database, sealer),
        webhook_secrets=WebhookSecrets(database, sealer),
        deliveries=DeliveryLists(database),
        usage=Usage(database),
        first_answers=FirstAnswers(database),
        search=Search(database),
        corrections=Corrections(database),
        sign_ins=SignIns(database, ledger),
        sealer=sealer,
        client=client,
    )
