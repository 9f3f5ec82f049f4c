"""Google's sign-in pages: fields, buttons, and the pages after them. Source tags and dates: docs/platforms.md."""

from sederunt.platforms.page_state import PageState
from sederunt.platforms.rows import Rows, Targets
from sederunt.platforms.sign_in_pages import SignInPages
from sederunt.platforms.sign_in_tables import (
    ASIDE,
    CAPTCHA_PX,
    HOST_END,
    chooser,
    first_rows,
    journey,
    last_rows,
    second_step,
)
from sederunt.platforms.targets import Step

_SEEN = "2026-11"
_target = Targets("gmeet.sign_in", seen=_SEEN)
_rows = Rows("gmeet.sign_in", seen=_SEEN)
_challenged = Rows("gmeet.sign_in", seen=_SEEN, state=PageState.CHALLENGED, settle_s=1.0)
_rejected = Rows("gmeet.sign_in", seen=_SEEN, state=PageState.SIGN_IN_REJECTED, unless=("gmeet.sign_in.unsent",))
# A question for a passkey may offer the password instead.
_asked_more = Rows(
    "gmeet.sign_in",
    seen=_SEEN,
    state=PageState.SIGN_IN_NEEDED,
    unless=("gmeet.sign_in.password_field",),
    settle_s=6.0,
)

_HOSTS = rf"^https://accounts\.google\.com{HOST_END}"
_HOME = rf"^https://(?!accounts\.)(?:[a-z0-9-]+\.)*google\.com{HOST_END}"
# Addresses between two sign-in pages do not count as elsewhere.
_ELSEWHERE = rf"^https?://(?!accounts\.youtube\.com{HOST_END}|(?:[a-z0-9-]+\.)*google\.com{HOST_END})"
_CHALLENGE = r"^https://accounts\.google\.com/(?:v3/)?signin/(?:v2/)?challenge/"
# Besides the real fields there are hidden copies for password managers.
_REAL = ':not([aria-hidden="true"]):not([type="hidden"])'

_ACCOUNT = _target(
    "account",
    "A P",
    selectors=(
        f"input#identifierId{_REAL}",
        f'input[name="identifier"]{_REAL}',
        f'input[type="email"]{_REAL}',
        f'input[autocomplete~="username"]{_REAL}',
    ),
)
_PASSWORD = _target(
    "password",
    "K P",
    selectors=(
        f'input[name="Passwd"]{_REAL}',
        f'input[type="password"][name="password"]{_REAL}',
        f'input[type="password"]{_REAL}',
    ),
)
_NEXT = _target(
    "next",
    "K P",
    selectors=("#identifierNext button", "#passwordNext button", "#identifierNext", "#passwordNext"),
    names="Next | Continue | Sign in",
    backstops=('form button[type="submit"]', 'form input[type="submit"]', "form button:not([type])"),
    but_not="Create account | Forgot email? | Forgot password? | Try another way | Show password | Not now",
)
_BY_PASSWORD = _target(
    "by_password",
    "P",
    names="Enter your password | Use your password",
    backstops=('[role="link"]',),
    within=('[role="link"]', "button", '[role="button"]', "a"),
    holding="enter your password | use your password",
)
# This does not bypass a code or a phone.
_OTHER_WAY = _target("other_way", "P", names="Try another way", within=("body",), holding="passkey")
_NOT_NOW = _target("not_now", "P", names="Not now | Skip | Skip for now | Maybe later | No thanks")
_FIELDS = (_ACCOUNT.id, _PASSWORD.id)

ROWS = (
    *first_rows(_rows, _PASSWORD),
    _challenged.address(
        "robot_address",
        (
            rf"{_CHALLENGE}(?:re)?captcha",
            r"^https://accounts\.google\.com/(?:v3/)?signin/(?:v2/)?rejected",
            r"^https://accounts\.google\.com/captcha",
        ),
        "P",
    ),
    _challenged.selector(
        "captcha",
        ('iframe[src*="recaptcha"]', 'iframe[title*="captcha" i]', "#captchaimg", 'img[src*="/Captcha"]'),
        "V P",
        least_px=CAPTCHA_PX,
    ),
    _challenged.text(
        "robot",
        "Couldn't sign you in | This browser or app may not be secure | Confirm you're not a robot | "
        "Type the text you hear or see | Type the characters you see | suspicious activity | unusual activity",
        "P K",
    ),
    _rejected.text(
        "refused",
        "Couldn't find your Google Account | Enter a valid email | Wrong password | Incorrect password | "
        "password is incorrect | password you entered is incorrect | Your password was changed | "
        "account has been disabled | Account disabled | account was deleted",
        "P K",
    ),
    _rejected.selector(
        "refused_field",
        tuple(
            f'input{field}[aria-invalid="true"]{_REAL}'
            for field in ("#identifierId", '[name="identifier"]', '[name="Passwd"]', '[type="password"]')
        ),
        "K",
        settle_s=2.0,  # some forms mark a field while it is being changed
    ),
    _asked_more.address("verify_address", rf"{_CHALLENGE}(?!pwd|password|(?:re)?captcha)[a-z]", "P"),
    _asked_more.text(
        "verify",
        "Verify it's you | Confirm it's you | Verify your identity | 2-Step Verification | "
        "make sure it's really you | Check your phone | Get a verification code | Enter the code | Enter code | "
        "Choose how you want to sign in | Welcome to your new account",
        "K P",
    ),
    *second_step(_asked_more),
    *last_rows(
        _rows,
        home=_HOME,
        home_source="A V P",
        # For example an organisation's own pages: the password is not typed there.
        elsewhere=Rows("gmeet.sign_in").address(
            "elsewhere", _ELSEWHERE, "A", state=PageState.SIGN_IN_NEEDED, settle_s=10.0
        ),
        fields=(*_ACCOUNT.selectors, *_PASSWORD.selectors),
        fields_source="A K P",
    ),
)

SIGN_IN = SignInPages(
    entry_urls=(
        "https://accounts.google.com/ServiceLogin?continue=https%3A%2F%2Fmeet.google.com%2F&hl=en",
        "https://accounts.google.com/",
    ),
    hosts=_HOSTS,
    rows=ROWS,
    journey=journey(
        _ACCOUNT,
        _PASSWORD,
        _NEXT,
        *chooser(_target, _FIELDS),
        Step(target=_BY_PASSWORD, states=ASIDE, most=2, apart=_FIELDS),
        Step(target=_OTHER_WAY, states=ASIDE, most=1, apart=_FIELDS),
        Step(target=_NOT_NOW, states=ASIDE, apart=_FIELDS),
    ),
    cookies=("SID", "__Secure-1PSID", "SAPISID", "APISID", "HSID", "SSID"),
)
