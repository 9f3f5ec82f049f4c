"""Hold what the sign-in pages of all sites have in common: rows, steps and how they go together."""

from sederunt.platforms.evidence import EvidenceRow
from sederunt.platforms.page_state import PageState
from sederunt.platforms.rows import Rows
from sederunt.platforms.sign_in_pages import NOTHING_SENT, PASSWORD_DUE
from sederunt.platforms.targets import ON_THE_WAY, Act, Journey, Step, Target

HOST_END = r"(?::\d+)?(?:[/?#]|$)"  # of a host's name: nothing may follow that makes another host of it
# Steps that lead back to the password, also from a page that asks for something else.
ASIDE = ON_THE_WAY | {PageState.SIGN_IN_NEEDED}
CAPTCHA_PX = (120, 40)  # the invisible scoring frame is smaller, and always there


def first_rows(rows: Rows, password: Target) -> tuple[EvidenceRow, ...]:
    """Make the rows that come first: how far signing in has come, and pages that did not come."""
    return (
        rows.signal("unsent", NOTHING_SENT, "own"),
        rows.signal("due", PASSWORD_DUE, "own"),
        rows.selector("password_field", password.selectors, password.source),
        rows.address("broken", r"^chrome-error:", "own", state=PageState.TROUBLE, settle_s=5.0),
        rows.status("server", "5..", "B2", state=PageState.TROUBLE, settle_s=5.0, seen="2026-08"),
    )


def last_rows(
    rows: Rows, *, home: str, home_source: str, elsewhere: EvidenceRow, fields: tuple[str, ...], fields_source: str
) -> tuple[EvidenceRow, ...]:
    """Make the rows that come last: let through to `home`, led elsewhere, or a field still there to be filled."""
    through = rows.address(
        "through",
        home,
        home_source,
        state=PageState.SIGNED_IN,
        unless=(rows.id("due"),),
        settle_s=1.5,  # the last cookies come with the first page
    )
    return (through, elsewhere, rows.selector("asks", fields, fields_source, state=PageState.DIALOG))


def journey(account: Target, password: Target, submit: Target, *others: Step) -> Journey:
    """Make the way through: address, password, the button that sends them, then what may stand between."""
    fields = (account.id, password.id)
    return Journey(
        steps=(
            Step(target=account, act=Act.FILL_ACCOUNT, most=6, again_s=1.0),
            Step(target=password, act=Act.FILL_PASSWORD, most=6, again_s=1.0),
            Step(target=submit, most=6, again_s=10.0, unpointed=4, knocks=True, beside=fields),
            *others,
        ),
        loading_s=15.0,
    )
