"""Microsoft's sign-in pages: fields, buttons, what is shown afterwards. Source tags and dates: docs/platforms.md."""

from sederunt.platforms.evidence import EvidenceRow, Kind
from sederunt.platforms.page_state import PageState
from sederunt.platforms.sign_in_pages import SignInPages, rows_of_every_site
from sederunt.platforms.targets import ON_THE_WAY, Act, Journey, Step, Target

_END = r"(?::\d+)?(?:[/?#]|$)"  # of a host's name: nothing may follow that makes another host of it
_LOGIN = r"(?:[a-z0-9-]+\.)*login\.(?:microsoftonline\.(?:com|us)|microsoft\.com|windows\.net|live\.com)" + _END
_OFFICE_LOGIN = r"(?:www\.)?(?:office|microsoft365)\.com(?::\d+)?/login(?:[/?#]|$)"
_HOSTS = rf"^https://(?:{_LOGIN}|{_OFFICE_LOGIN})"
_FAMILY = (
    r"(?:[a-z0-9-]+\.)*(?:(?:office|office365|microsoft365|outlook|sharepoint)\.com|cloud\.microsoft|"
    r"teams\.microsoft\.(?:com|us)|teams\.live\.com)" + _END
)
_HOME = rf"^https://(?!{_LOGIN}|{_OFFICE_LOGIN}|account\.){_FAMILY}"
_ELSEWHERE = rf"^https?://(?!{_LOGIN}|{_FAMILY})"
# On the page of the one field the other stands out of sight, for password managers.
_REAL = ':not([aria-hidden="true"]):not([type="hidden"]):not(.moveOffScreen)'
_SEEN = "2026-11"

_ACCOUNT = Target(
    id="teams.sign_in.account",
    selectors=(
        f'input[name="loginfmt"]{_REAL}',
        f"input#i0116{_REAL}",
        f"input#usernameEntry{_REAL}",
        f'input[type="email"]{_REAL}',
        f'input[autocomplete~="username"]{_REAL}',
    ),
    source="A P",
    seen=_SEEN,
)
_PASSWORD = Target(
    id="teams.sign_in.password",
    selectors=(
        f'input[name="passwd"]{_REAL}',
        f"input#i0118{_REAL}",
        f"input#passwordEntry{_REAL}",
        f'input[type="password"]{_REAL}',
    ),
    source="A P",
    seen=_SEEN,
)
_SUBMIT = Target(
    id="teams.sign_in.submit",
    selectors=(
        'input[type="submit"]',
        "#idSIButton9",
        'button[type="submit"]',
        '[data-testid="primaryButton"]',
    ),
    names=("Next", "Sign in", "Continue"),
    backstops=("form button:not([type])",),
    but_not=("Back", "Create one!", "Forgot password?", "Sign-in options", "Cancel"),
    source="A P",
    seen=_SEEN,
)
_STAY = Target(
    id="teams.sign_in.stay",
    selectors=("#idSIButton9", "#acceptButton", '[data-testid="primaryButton"]', 'input[type="submit"]'),
    names=("Yes",),
    within=("body",),
    holding=("Stay signed in?",),
    source="A K P",
    seen=_SEEN,
)
_BY_PASSWORD = Target(
    id="teams.sign_in.by_password",
    selectors=("#idA_PWD_SwitchToPassword",),
    names=("Use your password instead", "Use my password", "Use your password", "Sign in with a password instead"),
    source="P",
    seen=_SEEN,
)
_OTHER_WAY = Target(
    id="teams.sign_in.other_way",
    names=("Other ways to sign in", "Sign in another way"),
    within=("body",),
    holding=("passkey", "security key", "fingerprint"),  # a code or a phone is not got round
    source="P",
    seen=_SEEN,
)
_WHICH = Target(id="teams.sign_in.which", selectors=("#otherTile", "#aadTile"), source="P K", seen=_SEEN)
_LATER = Target(
    id="teams.sign_in.later",
    selectors=("#btnAskLater",),
    names=("Ask later", "Skip for now*", "Not now", "Maybe later", "Skip setup"),
    source="K",
    seen=_SEEN,
)

_FIELDS = (_ACCOUNT.id, _PASSWORD.id)
_ASIDE = ON_THE_WAY | {PageState.SIGN_IN_NEEDED}

JOURNEY = Journey(
    steps=(
        Step(target=_ACCOUNT, act=Act.FILL_ACCOUNT, most=6, again_s=1.0),
        Step(target=_PASSWORD, act=Act.FILL_PASSWORD, most=6, again_s=1.0),
        Step(target=_SUBMIT, most=6, again_s=10.0, unpointed=4, knocks=True, beside=_FIELDS),
        Step(target=_STAY, again_s=8.0, apart=_FIELDS),
        Step(target=_BY_PASSWORD, states=_ASIDE, most=2, apart=_FIELDS),
        Step(target=_OTHER_WAY, states=_ASIDE, most=1, apart=_FIELDS),
        Step(target=_WHICH, most=2, apart=_FIELDS),
        Step(target=_LATER, states=_ASIDE, apart=_FIELDS),
    ),
    loading_s=15.0,
)

ROWS: tuple[EvidenceRow, ...] = (
    *rows_of_every_site("teams", _PASSWORD, seen=_SEEN),
    EvidenceRow(
        id="teams.sign_in.captcha",
        kind=Kind.SELECTOR,
        patterns=(
            '[data-tid="HIP-Captcha-Image"]',
            'iframe[src*="captcha"]',
            'iframe[title*="captcha" i]',
            'iframe[src*="arkoselabs"]',
            "#enforcementFrame",
            'img[src*="GetHIP"]',
        ),
        least_px=(120, 40),
        state=PageState.CHALLENGED,
        settle_s=1.0,
        source="A LMA K",
        seen=_SEEN,
    ),
    EvidenceRow(
        id="teams.sign_in.robot",
        kind=Kind.TEXT,
        patterns=(
            "Verify you're a real person",
            "Verify you are a real person",
            "Help us beat the robots",
            "prove you're not a robot",
            "prove you're human",
            "Let's prove you're human",
            "Enter the characters you see",
            "unusual activity",
        ),
        state=PageState.CHALLENGED,
        settle_s=1.0,
        source="A LMA K",
        seen=_SEEN,
    ),
    EvidenceRow(
        id="teams.sign_in.refused_field",
        kind=Kind.SELECTOR,
        patterns=(
            "#usernameError",
            "#passwordError",
            "#i0116Error",
            "#i0118Error",
            "#idTD_Error",
            '[id$="__validationMessage"]',
        ),
        state=PageState.SIGN_IN_REJECTED,
        unless=("teams.sign_in.unsent",),
        source="A P",
        seen=_SEEN,
    ),
    EvidenceRow(
        id="teams.sign_in.refused",
        kind=Kind.TEXT,
        patterns=(
            "Your account or password is incorrect",
            "password is incorrect",
            "incorrect account or password",
            "This username may be incorrect",
            "We couldn't find an account with that username",
            "We couldn't find a Microsoft account",
            "That Microsoft account doesn't exist",
            "Enter a valid email address",
            "account has been locked",
            "account is temporarily locked",
            "account has been disabled",
            "Your password has expired",
            "Update your password",
        ),
        state=PageState.SIGN_IN_REJECTED,
        unless=("teams.sign_in.unsent",),
        source="A K",
        seen=_SEEN,
    ),
    EvidenceRow(
        id="teams.sign_in.verify_field",
        kind=Kind.SELECTOR,
        patterns=(
            'input[name="otc"]',
            "#idTxtBx_SAOTCC_OTC",
            "#idDiv_SAOTCS_Title",
            "#idDiv_SAOTCC_Title",
            "#idDiv_SAOTCAS_Title",
            "#idDiv_SAASDS_Title",
            '[data-testid="authenticatorAppTitle"]',
            "#ProofUpDescription",
        ),
        state=PageState.SIGN_IN_NEEDED,
        unless=("teams.sign_in.password_field",),
        settle_s=6.0,  # some of these may be put off, or answered with the password
        source="P",
        seen=_SEEN,
    ),
    EvidenceRow(
        id="teams.sign_in.verify",
        kind=Kind.TEXT,
        patterns=(
            "Verify your identity",
            "Verify it's you",
            "Enter the code",
            "Enter code",
            "Enter your security code",
            "Approve sign in request",
            "Approve sign-in request",
            "Check your Authenticator app",
            "More information required",
            "Action required",
            "Help us protect your account",
            "Let's keep your account secure",
            "You cannot access this right now",
            "You can't get there from here",
            "Face, fingerprint, PIN or security key",
        ),
        state=PageState.SIGN_IN_NEEDED,
        unless=("teams.sign_in.password_field",),
        settle_s=6.0,
        source="K",
        seen=_SEEN,
    ),
    EvidenceRow(
        id="teams.sign_in.through",
        kind=Kind.ADDRESS,
        patterns=(_HOME,),
        state=PageState.SIGNED_IN,
        unless=("teams.sign_in.due",),
        settle_s=1.5,  # the last cookies come with the first page
        source="A B2 P",
        seen=_SEEN,
    ),
    EvidenceRow(
        id="teams.sign_in.elsewhere",
        kind=Kind.ADDRESS,
        patterns=(_ELSEWHERE,),
        state=PageState.SIGN_IN_NEEDED,  # an organisation's own pages, say: no place for this password
        settle_s=10.0,
        source="K",
        seen=_SEEN,
    ),
    EvidenceRow(
        id="teams.sign_in.asks",
        kind=Kind.SELECTOR,
        patterns=(*_ACCOUNT.selectors, *_PASSWORD.selectors),
        state=PageState.DIALOG,
        source="A P",
        seen=_SEEN,
    ),
)

SIGN_IN = SignInPages(
    entry_urls=("https://www.office.com/login", "https://login.microsoftonline.com/"),
    hosts=_HOSTS,
    rows=ROWS,
    journey=JOURNEY,
    cookies=("ESTSAUTHPERSISTENT", "ESTSAUTH"),
)
