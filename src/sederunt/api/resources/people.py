"""People who may use an account's console, and the account's audit list."""

from functools import partial
from typing import Annotated, Any

from pydantic import Field
from starlette.responses import Response

from sederunt.accounts.sign_in import MemberRole
from sederunt.api.call import Call
from sederunt.api.failures import json_response, message_response
from sederunt.api.resources.lists import list_response, looking, page_of_list, texts_of
from sederunt.api.schemas import values as v
from sederunt.api.schemas.requests import Body
from sederunt.api.schemas.views import moment, page_json
from sederunt.database.people import Person
from sederunt.database.search import cursor_number

_Role = Annotated[str, *v.word(tuple(MemberRole))]


class MemberFields(Body):
    """Somebody to let in."""

    REQUIRED = ("name", "role")

    name: Annotated[str, *v.text(200)] = Field("", description="Who they are; they may change it.")
    role: _Role = Field("member", description="What they may do.")


class RoleFields(Body):
    """Another role."""

    REQUIRED = ("role",)

    role: _Role = Field("member", description="What they may do from now on.")


async def invite_member(call: Call) -> Response:
    """POST /member"""
    fields = await call.fields(MemberFields)
    most = call.context.ledger.most("members")
    token = await call.context.stores.sign_ins.invite(
        call.account_id, MemberRole(fields.role), name=fields.name, most=most
    )
    return json_response({"name": fields.name, "role": fields.role, "sign_in_url": link_of(call, token)})


async def list_members(call: Call) -> Response:
    """GET /member: the oldest first."""
    people = call.context.stores.sign_ins.people
    return await page_of_list(call, partial(people.member_page, call.account_id), member_values)


async def change_member(call: Call) -> Response:
    """PATCH /member/{id}"""
    fields = await call.fields(RoleFields)
    people = call.context.stores.sign_ins.people
    person_id = call.id("member")
    await people.change_role(person_id, call.account_id, fields.role)
    return json_response(member_values(await people.member(person_id, call.account_id)))


async def remove_member(call: Call) -> Response:
    """DELETE /member/{id}"""
    await call.context.stores.sign_ins.people.change_role(call.id("member"), call.account_id, None)
    return message_response("They are signed out, and may not come in any more.")


async def list_audit(call: Call) -> Response:
    """GET /audit: the audit list, newest first."""
    async with looking(call):
        page = await audit_values(call)
    return await list_response(call, page_json(texts_of(page["data"], dict), page["next_cursor"]))


async def audit_values(call: Call) -> dict[str, Any]:
    """Return the page of the audit list that the query asks for. Raises InvalidConfig."""
    before = cursor_number(call.request.query_params.get("cursor"))
    limit = call.integer("limit", default=50, least=1, most=200)
    entries = await call.context.stores.sign_ins.people.deeds(call.account_id, before=before, limit=limit + 1)
    page = entries[:limit]
    has_more = len(entries) > limit
    return {
        "data": [
            {
                "at": moment(entry.at),
                "who": entry.who,
                "by": "person" if entry.by_person else "key",
                "action": entry.action,
                "target": entry.target,
            }
            for entry in page
        ],
        "next_cursor": str(page[-1].id) if has_more else None,
    }


def link_of(call: Call, token: str) -> str:
    """Return the address of an invitation, which works once."""
    return f"{call.base_url}/welcome?token={token}"


def member_values(person: Person) -> dict[str, Any]:
    return {
        "id": str(person.id),
        "name": person.name,
        "email": person.email,
        "role": person.role,
        "created_at": moment(person.created_at),
    }
