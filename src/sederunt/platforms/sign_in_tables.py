"""Hold what the sign-in pages of all sites share: rows, steps and how they are combined."""

from sederunt.platforms.evidence import EvidenceRow
from sederunt.platforms.page_state import PageState
from sederunt.platforms.rows import Rows, Targets
from sederunt.platforms.sign_in_pages import ACCOUNT, NOTHING_SENT, PASSWORD_DUE
from sederunt.platforms.targets import ON_THE_WAY, Act, Journey, Step, Target

HOST_END = r"(?::\d+)?(?:[/?#]|$)"  # nothing may follow a host's name that makes it another host
# Steps that lead back to the password, also from a page that asks for something else.
ASIDE = ON_THE_WAY | {PageState.SIGN_IN_NEEDED}
CAPTCHA_PX = (120, 40)  # the invisible scoring frame is smaller, and always present

# Fields and sentences of a second step, which needs a person.
CODE_FIELDS = (
    'input[autocomplete="one-time-code"]',
    'input[name="totpPin"]',
    'input[name="otc"]',
    'input[name="idvPin"]',
)
SECOND_STEP = (
    r"\bauthenticator\b|authenticator-app|(?:verification|security|sign-?in|one-time) code\b",
    r"bestätigungscode|sicherheitscode|prüfcode|identität (?:bestätigen|überprüfen)|bestätigung in zwei schritten",
    r"code de (?:validation|vérification|sécurité)|validation en deux étapes|vérifi(?:ez|er) votre identité",
    r"código de (?:verificación|verificação|seguridad|segurança)|verificación en dos pasos|verificação em duas etapas",
    r"codice di (?:verifica|sicurezza)|verifica in due passaggi|verificatiecode|verificatie in twee stappen",
    r"確認コード|セキュリティ ?コード|2 ?段階認証|本人確認",
)


def second_step(rows: Rows) -> tuple[EvidenceRow, ...]:
    """Make the rows of a second step, whatever its words."""
    return (
        rows.selector("code_field", CODE_FIELDS, "K P"),
        rows.stem("second_step", SECOND_STEP, "K", unless=(rows.id("password_field"), rows.id("asks"))),
    )


def first_rows(rows: Rows, password: Target) -> tuple[EvidenceRow, ...]:
    """Make the first rows: the progress of signing in, and pages that did not load."""
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
    """Make the last rows: let through to `home`, led elsewhere, or a field still to be filled."""
    through_row = rows.address(
        "through",
        home,
        home_source,
        state=PageState.SIGNED_IN,
        unless=(rows.id("due"),),
        settle_s=1.5,  # the last cookies come with the first page
    )
    return (through_row, elsewhere, rows.selector("asks", fields, fields_source, state=PageState.DIALOG))


def journey(account: Target, password: Target, submit: Target, *others: Step) -> Journey:
    """Make the journey: address, password, the button that sends them, then steps that may come in between."""
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


_TILES = ('[role="link"]', '[role="button"]', '[role="option"]', "li")
_ANOTHER = (
    "Use another account | Anderes Konto verwenden | Utiliser un autre compte | Usar otra cuenta | Usar outra conta | "
    "Usa un altro account | Een ander account gebruiken | 別のアカウントを使用"
)


def chooser(target: Targets, fields: tuple[str, ...]) -> tuple[Step, Step]:
    """Make the steps for a page that lists accounts: ours if it is among them, else the button to enter it.

    Other pages show the account too, as a way to leave it; only a list also offers to use another one.
    """
    other_account = target(
        "another", "P K", selectors=("#otherTile",), names=_ANOTHER, backstops=_TILES, within=_TILES, holding=_ANOTHER
    )
    own_account = target(
        "ours",
        "K",
        selectors=tuple(f'[{name}="{ACCOUNT}" i]' for name in ("data-identifier", "data-test-id", "data-email")),
        names=ACCOUNT,
        backstops=_TILES,
        within=_TILES,
        holding=ACCOUNT,
    )
    return (
        Step(target=own_account, most=2, apart=fields, beside=(other_account.id,)),
        Step(target=other_account, most=2, apart=(*fields, own_account.id)),
    )
