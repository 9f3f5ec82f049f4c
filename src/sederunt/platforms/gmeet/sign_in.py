"""Google's sign-in pages: fields, buttons, and what is shown afterwards. Source tags and dates: docs/platforms.md."""

from sederunt.platforms.evidence import EvidenceRow, Kind
from sederunt.platforms.page_state import PageState
from sederunt.platforms.sign_in_pages import SignInPages, rows_of_every_site
from sederunt.platforms.targets import ON_THE_WAY, Act, Journey, Step, Target

_END = r"(?::\d+)?(?:[/?#]|$)"  # of a host's name: nothing may follow that makes another host of it
_HOSTS = rf"^https://accounts\.google\.com{_END}"
_HOME = rf"^https://(?!accounts\.)(?:[a-z0-9-]+\.)*google\.com{_END}"
# What is on its way between two pages is nowhere yet.
_ELSEWHERE = rf"^https?://(?!accounts\.youtube\.com{_END}|(?:[a-z0-9-]+\.)*google\.com{_END})"
# Copies for password managers, hidden from people, stand beside the real fields.
_REAL = ':not([aria-hidden="true"]):not([type="hidden"])'
_SEEN = "2026-11"

_ACCOUNT = Target(
    id="gmeet.sign_in.account",
    selectors=(
        f"input#identifierId{_REAL}",
        f'input[name="identifier"]{_REAL}',
        f'input[type="email"]{_REAL}',
        f'input[autocomplete~="username"]{_REAL}',
    ),
    source="A P",
    seen=_SEEN,
)
_PASSWORD = Target(
    id="gmeet.sign_in.password",
    selectors=(
        f'input[name="Passwd"]{_REAL}',
        f'input[type="password"][name="password"]{_REAL}',
        f'input[type="password"]{_REAL}',
    ),
    source="K P",
    seen=_SEEN,
)
_NEXT = Target(
    id="gmeet.sign_in.next",
    selectors=("#identifierNext button", "#passwordNext button", "#identifierNext", "#passwordNext"),
    names=("Next", "Continue", "Sign in"),
    backstops=('form button[type="submit"]', 'form input[type="submit"]', "form button:not([type])"),
    but_not=("Create account", "Forgot email?", "Forgot password?", "Try another way", "Show password", "Not now"),
    source="K P",
    seen=_SEEN,
)
_BY_PASSWORD = Target(
    id="gmeet.sign_in.by_password",
    names=("Enter your password", "Use your password"),
    backstops=('[role="link"]',),
    within=('[role="link"]', "button", '[role="button"]', "a"),
    holding=("enter your password", "use your password"),
    source="P",
    seen=_SEEN,
)
_OTHER_WAY = Target(
    id="gmeet.sign_in.other_way",
    names=("Try another way",),
    within=("body",),
    holding=("passkey",),  # a code or a phone is not got round
    source="P",
    seen=_SEEN,
)
_NOT_NOW = Target(
    id="gmeet.sign_in.not_now",
    names=("Not now", "Skip", "Skip for now", "Maybe later", "No thanks"),
    source="P",
    seen=_SEEN,
)

_FIELDS = (_ACCOUNT.id, _PASSWORD.id)
_ASIDE = ON_THE_WAY | {PageState.SIGN_IN_NEEDED}

JOURNEY = Journey(
    steps=(
        Step(target=_ACCOUNT, act=Act.FILL_ACCOUNT, most=6, again_s=1.0),
        Step(target=_PASSWORD, act=Act.FILL_PASSWORD, most=6, again_s=1.0),
        Step(target=_NEXT, most=6, again_s=10.0, unpointed=4, knocks=True, beside=_FIELDS),
        Step(target=_BY_PASSWORD, states=_ASIDE, most=2, apart=_FIELDS),
        Step(target=_OTHER_WAY, states=_ASIDE, most=1, apart=_FIELDS),
        Step(target=_NOT_NOW, states=_ASIDE, apart=_FIELDS),
    ),
    loading_s=15.0,
)

ROWS: tuple[EvidenceRow, ...] = (
    *rows_of_every_site("gmeet", _PASSWORD, seen=_SEEN),
    EvidenceRow(
        id="gmeet.sign_in.robot_address",
        kind=Kind.ADDRESS,
        patterns=(
            r"^https://accounts\.google\.com/(?:v3/)?signin/(?:v2/)?challenge/(?:re)?captcha",
            r"^https://accounts\.google\.com/(?:v3/)?signin/(?:v2/)?rejected",
            r"^https://accounts\.google\.com/captcha",
        ),
        state=PageState.CHALLENGED,
        settle_s=1.0,
        source="P",
        seen=_SEEN,
    ),
    EvidenceRow(
        id="gmeet.sign_in.captcha",
        kind=Kind.SELECTOR,
        patterns=('iframe[src*="recaptcha"]', 'iframe[title*="captcha" i]', "#captchaimg", 'img[src*="/Captcha"]'),
        least_px=(120, 40),  # the invisible scoring frame is always there
        state=PageState.CHALLENGED,
        settle_s=1.0,
        source="V P",
        seen=_SEEN,
    ),
    EvidenceRow(
        id="gmeet.sign_in.robot",
        kind=Kind.TEXT,
        patterns=(
            "Couldn't sign you in",
            "This browser or app may not be secure",
            "Confirm you're not a robot",
            "Type the text you hear or see",
            "Type the characters you see",
            "suspicious activity",
            "unusual activity",
        ),
        state=PageState.CHALLENGED,
        settle_s=1.0,
        source="P K",
        seen=_SEEN,
    ),
    EvidenceRow(
        id="gmeet.sign_in.refused",
        kind=Kind.TEXT,
        patterns=(
            "Couldn't find your Google Account",
            "Enter a valid email",
            "Wrong password",
            "Incorrect password",
            "password is incorrect",
            "password you entered is incorrect",
            "Your password was changed",
            "account has been disabled",
            "Account disabled",
            "account was deleted",
        ),
        state=PageState.SIGN_IN_REJECTED,
        unless=("gmeet.sign_in.unsent",),
        source="P K",
        seen=_SEEN,
    ),
    EvidenceRow(
        id="gmeet.sign_in.refused_field",
        kind=Kind.SELECTOR,
        patterns=tuple(
            f'input{field}[aria-invalid="true"]{_REAL}'
            for field in ("#identifierId", '[name="identifier"]', '[name="Passwd"]', '[type="password"]')
        ),
        state=PageState.SIGN_IN_REJECTED,
        unless=("gmeet.sign_in.unsent",),
        settle_s=2.0,  # some forms mark a field while it is being changed
        source="K",
        seen=_SEEN,
    ),
    EvidenceRow(
        id="gmeet.sign_in.verify_address",
        kind=Kind.ADDRESS,
        patterns=(
            r"^https://accounts\.google\.com/(?:v3/)?signin/(?:v2/)?challenge/"
            r"(?!pwd|password|(?:re)?captcha)[a-z]",
        ),
        state=PageState.SIGN_IN_NEEDED,
        unless=("gmeet.sign_in.password_field",),
        settle_s=6.0,  # a question for a passkey may offer the password instead
        source="P",
        seen=_SEEN,
    ),
    EvidenceRow(
        id="gmeet.sign_in.verify",
        kind=Kind.TEXT,
        patterns=(
            "Verify it's you",
            "Confirm it's you",
            "Verify your identity",
            "2-Step Verification",
            "make sure it's really you",
            "Check your phone",
            "Get a verification code",
            "Enter the code",
            "Enter code",
            "Choose how you want to sign in",
            "Welcome to your new account",
        ),
        state=PageState.SIGN_IN_NEEDED,
        unless=("gmeet.sign_in.password_field",),
        settle_s=6.0,
        source="K P",
        seen=_SEEN,
    ),
    EvidenceRow(
        id="gmeet.sign_in.through",
        kind=Kind.ADDRESS,
        patterns=(_HOME,),
        state=PageState.SIGNED_IN,
        unless=("gmeet.sign_in.due",),
        settle_s=1.5,  # the last cookies come with the first page
        source="A V P",
        seen=_SEEN,
    ),
    EvidenceRow(
        id="gmeet.sign_in.elsewhere",
        kind=Kind.ADDRESS,
        patterns=(_ELSEWHERE,),
        state=PageState.SIGN_IN_NEEDED,  # an organisation's own pages, say: no place for this password
        settle_s=10.0,
        source="A",
    ),
    EvidenceRow(
        id="gmeet.sign_in.asks",
        kind=Kind.SELECTOR,
        patterns=(*_ACCOUNT.selectors, *_PASSWORD.selectors),
        state=PageState.DIALOG,
        source="A K P",
        seen=_SEEN,
    ),
)

SIGN_IN = SignInPages(
    entry_urls=(
        "https://accounts.google.com/ServiceLogin?continue=https%3A%2F%2Fmeet.google.com%2F&hl=en",
        "https://accounts.google.com/",
    ),
    hosts=_HOSTS,
    rows=ROWS,
    journey=JOURNEY,
    cookies=("SID", "__Secure-1PSID", "SAPISID", "APISID", "HSID", "SSID"),
)
