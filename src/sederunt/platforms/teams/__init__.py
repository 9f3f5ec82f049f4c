"""Microsoft Teams, in the browser: work, light, personal and government clients."""

from sederunt.model.bot import Service
from sederunt.platforms.platform import Platform
from sederunt.platforms.sign_in_pages import AccountKind, AccountUse
from sederunt.platforms.site import Limits, Site
from sederunt.platforms.teams.controls import CONTROLS, JOURNEY
from sederunt.platforms.teams.decode import TeamsDecoder
from sederunt.platforms.teams.evidence import NEVER, ROWS
from sederunt.platforms.teams.links import parse_link
from sederunt.platforms.teams.sign_in import SIGN_IN
from sederunt.platforms.teams.watch import WATCH

PLATFORM: Platform = Site(
    service=Service("teams"),
    title="Microsoft Teams",
    limits=Limits(name=50, chat=4000),
    origins=(
        "https://teams.microsoft.com",
        "https://teams.live.com",
        "https://teams.cloud.microsoft",
        "https://gov.teams.microsoft.us",
        "https://dod.teams.microsoft.us",
    ),
    rows=ROWS,
    never=NEVER,
    journey=JOURNEY,
    controls=CONTROLS,
    watch=WATCH,
    make_decoder=TeamsDecoder,
    link_parser=parse_link,
    accounts=AccountUse(kind=AccountKind.SESSION, sign_in_url="https://teams.microsoft.com/v2/", pages=SIGN_IN),
)
