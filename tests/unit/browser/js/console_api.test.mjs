import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const file = new URL("../../../../src/sederunt/console/assets/api.js", import.meta.url);
let reloads = 0;
globalThis.document = { querySelector: () => null };
globalThis.window = { location: { reload: () => (reloads += 1) } };
const { ask, Refused } = await import(`data:text/javascript,${encodeURIComponent(readFileSync(file, "utf8"))}`);

const answers = (text, status = 200) => (globalThis.fetch = async () => new Response(text, { status }));

test("what is answered is read, and an empty answer of a deed is one", async () => {
  answers('{"message": "Saved."}');
  assert.deepEqual(await ask("POST", "page:/profile", {}), { message: "Saved." });
  answers("");
  assert.deepEqual(await ask("DELETE", "/bot/1"), {});
});

test("a page in place of an answer does not read as done", async () => {
  answers("<!doctype html><title>Sign in</title>");
  await assert.rejects(ask("POST", "page:/profile", {}), (error) => error instanceof Refused && /not understood/.test(error.message));
});

test("a session that has ended is a refusal, and the page is loaded again", async () => {
  answers('{"message": "Sign in again."}', 401);
  await assert.rejects(ask("POST", "page:/profile", {}), { message: "Sign in again." });
  assert.equal(reloads, 1);
});

test("a refusal without words tells its status", async () => {
  answers("<h1>Bad gateway</h1>", 502);
  await assert.rejects(ask("GET", "/bot"), { message: "The service answered 502." });
});
