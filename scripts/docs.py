"""Writes the generated parts of the documentation: settings, statuses, events, rows of evidence.

`--check` only compares, and checks the places that the glossary names.
"""

import ast
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from sederunt.api.schemas.event_answers import EVENTS, IN_WEBHOOKS, EventRow
from sederunt.model.budgets import BUDGETS, SPREAD, Budget
from sederunt.model.history import TOLD_WHEN_ASKED
from sederunt.model.status import ENDINGS, REASONS, TRANSITIONS
from sederunt.platforms.evidence import EvidenceRow
from sederunt.platforms.registry import platform_of, services
from sederunt.platforms.site import Site
from sederunt.settings import Section, Settings, variable
from sederunt.transcription.models import models, providers
from sederunt.transcription.rows import Can, ModelRow, Price

DOCS = Path(__file__).parent.parent / "docs"
SOURCE = Path(__file__).parent.parent / "src" / "sederunt"
NOTE = "<!-- Written by scripts/docs.py; change the code, then `make docs`. -->\n\n"

# Defaults that depend on the machine are described, not printed.
SPOKEN_DEFAULTS = {"SEDERUNT_HOST__NAME": "this machine's name"}


def settings_page() -> str:
    """docs/settings.md: every setting with its environment name, default and sentence."""
    lines = [
        "# Settings\n",
        NOTE,
        "Everything can be set by environment; a double underscore goes one level down. Any secret may be given as "
        "`…_FILE`, a path whose content is the value. Lists and objects are JSON. What is empty counts as not given. A "
        "`SEDERUNT_…__…` that is no setting is refused; one without a double underscore may be somebody else's, and is "
        "told and ignored. `sederunt config` prints what is in force and where it comes from.\n\n",
        "| Variable | Default | Meaning |\n|---|---|---|\n",
    ]
    lines += _rows(Settings, "SEDERUNT")
    return "".join(lines)


def _rows(model: type[BaseModel], prefix: str) -> list[str]:
    rows: list[str] = []
    for name, field in model.model_fields.items():
        variable = f"{prefix}_{name.upper()}" if prefix == "SEDERUNT" else f"{prefix}__{name.upper()}"
        section = _section(field)
        if name == "providers" and prefix == "SEDERUNT":
            rows += _rows(_provider_section(field), f"{variable}__<NAME>")
        elif section is not None:
            rows += _rows(section, variable)
        else:
            rows.append(f"| `{variable}` | {_default(variable, field)} | {field.description} |\n")
    return rows


def limits_page() -> str:
    """docs/limits.md: every budget with whose it is, its default, its setting and what happens when it is spent."""
    lines = [
        "# Limits\n",
        NOTE,
        "What one account, key, bot, receiver, address, job or listener may use, so that nobody can take what others "
        "need. Defaults are generous: nobody who uses the service as it is meant comes near them. `0` means no limit "
        "where the setting says so. What is counted in each process multiplies with their number.\n\n"
        "A refusal names its budget: in the answer as `budget`, in the list of events as `budget_spent` or as "
        "`budget` of the event that tells the ending. [operations.md](operations.md) lists the metrics "
        "(`sederunt_budget_…`) that show use against these limits.\n\n"
        "| Budget | Of | Counts | Default | Setting | Counted over | Beyond it |\n|---|---|---|---|---|---|---|\n",
    ]
    lines += [
        f"| `{row.name}` | {row.of} | {row.unit} | {_figure(row)} | {_limit_setting(row)} "
        f"| {row.over if row.of in SPREAD else '–'} | {row.spent} |\n"
        for row in BUDGETS.values()
    ]
    return "".join(lines)


def _figure(row: Budget) -> str:
    return f"{row.default:,.0f}, and {row.per_s:,.0f} a second" if row.per_s else f"{row.default:,.0f}"


def _limit_setting(row: Budget) -> str:
    return f"`{variable(*row.setting.split('.'))}`" if row.setting else "–"


def _section(field: FieldInfo) -> type[BaseModel] | None:
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, Section) else None


def _provider_section(field: FieldInfo) -> type[BaseModel]:
    kind: Any = field.annotation
    section: type[BaseModel] = kind.__args__[1]
    return section


def _default(variable: str, field: FieldInfo) -> str:
    if variable in SPOKEN_DEFAULTS:
        return SPOKEN_DEFAULTS[variable]
    if field.default is PydanticUndefined or field.default in (None, (), ""):
        return "–"
    return f"`{field.default}`"


def status_page() -> str:
    """docs/statuses.md: what follows what, and which reasons may stand with which ending."""
    lines = [
        "# Statuses of a bot\n",
        NOTE,
        "Each change is one event and one webhook. Nothing else writes a status.\n\n",
        "```mermaid\nstateDiagram-v2\n",
    ]
    for status, moves in TRANSITIONS.items():
        lines += [f"  {status} --> {following}: {trigger}\n" for trigger, following in moves.items()]
        if not moves:
            lines.append(f"  {status} --> [*]\n")
    lines.append("```\n\n| Ending | Stop reasons |\n|---|---|\n")
    for status in TRANSITIONS:
        if status in ENDINGS:
            reasons = ", ".join(f"`{reason}`" for reason in sorted(REASONS.get(status, ())))
            lines.append(f"| `{status}` | {reasons or 'none'} |\n")
    lines.append(
        "\nA bot that reached its time limit is `finished` without a stop reason; the event's data says "
        "`cause: time_limit`. One that found its meeting full is `not_admitted` with `request_denied` and "
        "`cause: meeting_full`. The last change of a bot that was in its meeting repeats `cause` and `evidence` of the "
        "change to `leaving`, unless it has its own.\n"
    )
    return "".join(lines)


def events_page() -> str:
    """docs/events.md: every kind of event with the fields of its data."""
    lines = [
        "# Events\n",
        NOTE,
        "`events` of a bot and of a recording tell what happened to it, oldest first: `event`, `data`, `created_at`. "
        "Each change of status is also sent to `webhook_url`; the others that a webhook can tell are sent where "
        "[`webhook_events`](api.md#configuration-of-a-bot) names them. What listeners hear while people speak is "
        "another list: [realtime.md](realtime.md). The OpenAPI document has all of it as schemas.\n",
    ]
    for kind, row in EVENTS.items():
        lines.append(f"\n## {kind}\n\n{row.told} {_whose(kind, row)}\n\n| Field of `data` | Type | |\n|---|---|---|\n")
        lines += [_data_field(name, schema, name in row.optional) for name, schema in row.data.items()]
    return "".join(lines)


def _whose(kind: str, row: EventRow) -> str:
    whose = " and ".join(f"{owner}s" for owner in row.of)
    sent = "sent" if any(kind in IN_WEBHOOKS[owner] for owner in row.of) else "not sent"
    asked = ", where `webhook_events` names it" if kind in TOLD_WHEN_ASKED else ""
    return f"Of {whose}; {sent} to webhooks{asked}."


def _data_field(name: str, schema: Mapping[str, Any], is_optional: bool) -> str:
    items = schema.get("items", {}).get("properties")
    kind = f"array of objects: {', '.join(f'`{field}`' for field in items)}" if items else schema["type"]
    words = "One of " + ", ".join(f"`{word}`" for word in schema["enum"]) if "enum" in schema else ""
    told = " ".join(part for part in (schema.get("description", ""), words) if part)
    return f"| `{name}` | {kind}{', where there is one' if is_optional else ''} | {told} |\n"


def evidence_page() -> str:
    """docs/evidence.md: every row by which a site's page is read, in the order in which they are tried."""
    lines = [
        "# What is seen on a page, and what it means\n",
        NOTE,
        "The first row that matches decides. How rows are read, and what the tags of the sources stand for: "
        "[platforms.md](platforms.md). A row without a standing is a witness for other rows.\n",
    ]
    for service in services():
        site = platform_of(service)
        assert isinstance(site, Site), f"{service} is not made of tables"
        lines += [f"\n## {service}\n\n", *_evidence_table(site.rows)]
        if site.accounts.pages is not None:
            lines += [f"\n### Sign-in pages of {service}\n\n", *_evidence_table(site.accounts.pages.rows)]
    return "".join(lines)


def _evidence_table(rows: Sequence[EvidenceRow]) -> list[str]:
    lines = ["| Row | Kind | Phase | Standing | Reason, cause | Held | Source | Seen |\n|---|---|---|---|---|---|---|---|\n"]
    for row in rows:
        reason = ", ".join(f"`{word}`" for word in (row.reason, row.cause) if word)
        lines.append(
            f"| `{row.id}` | {row.kind} | {row.phase} | {row.state or '(witness)'} | {reason} "
            f"| {row.settle_s:g} s | {row.source} | {row.seen} |\n"
        )
    return lines


_NAMED = re.compile(r"\| `([\w/]+\.py): (\w+)(?:\.(\w+))?` \|")


def glossary_faults() -> list[str]:
    """Return what is wrong with docs/glossary.md: a word told twice, or one whose place does not exist."""
    faults, words = [], set()
    for line in (DOCS / "glossary.md").read_text(encoding="utf-8").splitlines():
        if not line.startswith("| ") or line.startswith("| Word |"):
            continue
        found = _NAMED.search(line)
        if found is None:
            faults.append(f"names no place as `file.py: name`: {line[:60]}")
            continue
        for word in line.split("|")[1].split(","):
            if word.strip() in words:
                faults.append(f"tells '{word.strip()}' twice")
            words.add(word.strip())
        path, name, field = found.groups()
        if not _exists(SOURCE / path, name, field):
            faults.append(f"names {path}: {name}{'.' + field if field else ''}, which does not exist")
    return faults


def _exists(path: Path, name: str, field: str | None) -> bool:
    if not path.exists():
        return False
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            fields = {each.target.id for each in node.body if _is_field(each)}  # type: ignore[attr-defined]
            return field is None or field in fields
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            return field is None
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            return field is None
    return False


def _is_field(node: ast.stmt) -> bool:
    return isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)


def models_page() -> str:
    """docs/models.md: every transcription model, what it can, takes and costs."""
    lines = [
        "# Transcription models\n",
        NOTE,
        "What validation judges by, and what `GET /pricing` answers with. Every name in the first two columns may be "
        "sent. How vendors are used: [providers.md](providers.md). Vendors' prices are US dollars for an hour of sound, "
        "as read on the day beside them: ask the vendor before you calculate with them.\n\n",
        "| Model | Other names | Vendor's model | Live | Voices | Finds language | Custom words | Masks | Languages "
        "| Price |\n|---|---|---|---|---|---|---|---|---|---|\n",
    ]
    for row in models():
        if row.provider is not None:
            lines.append(_model_line(row))
    lines.append("\n| Provider | Entry in settings | Regions | Longest file | Largest file |\n|---|---|---|---|---|\n")
    for provider in providers().values():
        minutes = f"{provider.max_audio_minutes} min" if provider.max_audio_minutes else "–"
        size = f"{provider.max_file_bytes / 1_000_000:,.0f} MB" if provider.max_file_bytes else "–"
        regions = ", ".join(provider.regions) or "–"
        lines.append(f"| {provider.title} | `{provider.name}` | {regions} | {minutes} | {size} |\n")
    return "".join(lines)


def _model_line(row: ModelRow) -> str:
    others = ", ".join(f"`{name}`" for name in row.names[1:])
    vendor = providers()[row.provider or ""].title + (f" `{row.vendor_model}`" if row.vendor_model else "")
    if row.end_of_life:
        vendor += f" (until {row.end_of_life}" + (f", then as `{row.successor}`)" if row.successor else ")")
    marks = ["yes" if flag else "" for flag in (row.realtime, Can.DIARIZE in row.can, Can.DETECT_LANGUAGE in row.can)]
    masks = "vendor" if Can.MASK_PROFANITY in row.can else "we do"
    languages = "the vendor judges" if row.languages is None else str(len(row.languages))
    price = row.price
    cost = "none" if price is None and row.provider == "whisper" else "not known" if price is None else _cost(price)
    cells = [f"`{row.identifier}`", others, vendor, *marks, _vocabulary(row), masks, languages, cost]
    return f"| {' | '.join(cells)} |\n"


def _cost(price: Price) -> str:
    note = f"; {price.note}" if price.note else ""
    return f"${price.per_hour:.2f} ({price.as_of}{note})"


def _vocabulary(row: ModelRow) -> str:
    if Can.VOCABULARY not in row.can:
        return ""
    rule = row.vocabulary
    limits = ((rule.terms, "terms"), (rule.words, "words each"), (rule.letters, "letters each"), (rule.letters_in_all, "letters in all"))
    told = [f"{limit} {what}" for limit, what in limits if limit is not None]
    told += [] if rule.digits else ["no digits"]
    return ", ".join(told) or "yes"


SOURCES = ("<!-- sources of rows -->\n", "<!-- end of sources of rows -->\n")
OLD_DAYS, OLD = 90, " (older than 90 days)"


def sources_of_rows() -> list[tuple[str, str, str, str]]:
    """Return vendor, subject, document and day of all that the rows of vendors rest on."""
    found = []
    for provider in providers().values():
        found += [(provider.title, each.subject, each.document, each.read_on) for each in provider.sources]
        for row in models():
            if row.provider == provider.name and row.price:
                found.append((provider.title, f"price of `{row.identifier}`", row.price.note or "–", row.price.as_of))
    return found


def is_old(day: str) -> bool:
    """Return whether a source was read more than 90 days ago."""
    return (date.today() - date.fromisoformat(day)).days > OLD_DAYS


def providers_page() -> str:
    """docs/providers.md, written by hand, with the table of sources in its place."""
    text = (DOCS / "providers.md").read_text(encoding="utf-8")
    before, _, rest = text.partition(SOURCES[0])
    after = rest.partition(SOURCES[1])[2]
    lines = ["| Vendor | What | Document | Read on |\n|---|---|---|---|\n"]
    for title, subject, document, day in sources_of_rows():
        lines.append(f"| {title} | {subject} | {document} | {day}{OLD if is_old(day) else ''} |\n")
    return before + SOURCES[0] + "".join(lines) + SOURCES[1] + after


PAGES = {
    "providers.md": providers_page,
    "limits.md": limits_page,
    "models.md": models_page,
    "settings.md": settings_page,
    "statuses.md": status_page,
    "events.md": events_page,
    "evidence.md": evidence_page,
}


def link_faults() -> list[str]:
    """Return the links of our pages that lead to no file, and pages that the index does not name."""
    root = DOCS.parent
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    faults = [f"docs/README.md does not name {page.name}" for page in DOCS.glob("*.md") if page.name not in index]
    for page in (*DOCS.rglob("*.md"), root / "README.md", root / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if not (page.parent / target).exists():
                faults.append(f"{page.relative_to(root)} leads to {target}, which is not there")
    return faults


def main() -> int:
    """Write the pages, or say which are out of date."""
    stale = [name for name, page in PAGES.items() if not _is_current(name, page())]
    if "--check" in sys.argv:
        for name in stale:
            print(f"docs/{name} is out of date: run 'make docs'", file=sys.stderr)
        faults = [f"docs/glossary.md {fault}" for fault in glossary_faults()] + link_faults()
        for fault in faults:
            print(fault, file=sys.stderr)
        return 1 if stale or faults else 0
    for name in PAGES:
        (DOCS / name).write_text(PAGES[name](), encoding="utf-8")
    for title, subject, _, day in sources_of_rows():
        if is_old(day):
            print(f"{title}: {subject} was read on {day}, more than {OLD_DAYS} days ago")
    return 0


def _is_current(name: str, text: str) -> bool:
    path = DOCS / name
    # What is old is marked when the pages are written; that time goes by makes no page wrong.
    return path.exists() and path.read_text(encoding="utf-8").replace(OLD, "") == text.replace(OLD, "")


if __name__ == "__main__":
    sys.exit(main())
