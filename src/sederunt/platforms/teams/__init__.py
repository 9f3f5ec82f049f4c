"""Microsoft Teams, in the browser: work, light, personal and government clients."""

from sederunt.model.bot import Service
from sederunt.platforms.platform import Platform
from sederunt.platforms.site import Site
from sederunt.platforms.teams.controls import CAMERA, CHAT, JOURNEY, LEAVING, NOTICES, PANELS
from sederunt.platforms.teams.decode import TeamsDecoder
from sederunt.platforms.teams.evidence import NEVER, ROWS
from sederunt.platforms.teams.links import parse_link
from sederunt.platforms.teams.sign_in import SIGN_IN
from sederunt.platforms.teams.watch import WATCH

PLATFORM: Platform = Site(
    service=Service.TEAMS,
    name_limit=50,
    chat_limit=4000,
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
    notices=NOTICES,
    camera=CAMERA,
    chat_panel=CHAT,
    leave_targets=LEAVING,
    panels=PANELS,
    watch=WATCH,
    make_decoder=TeamsDecoder,
    link_parser=parse_link,
    sign_in_pages=SIGN_IN,
)
