import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const file = new URL("../../../../src/sederunt/console/assets/usage_span.js", import.meta.url);
const { beginningOf, monthsBetween, spanOf } = await import(`data:text/javascript,${encodeURIComponent(readFileSync(file, "utf8"))}`);

const day = (at) => new Date(at * 1000).toISOString().slice(0, 13);

test("a period begins at midnight in UTC", () => {
  assert.equal(day(beginningOf("2026-11")), "2026-11-01T00");
  assert.equal(day(beginningOf("2026-11-24")), "2026-11-24T00");
});

test("months are shown from the first that was asked for to the last, however few were used", () => {
  const [first, last] = spanOf("2026-06-14", "2026-11-24", "month");
  assert.deepEqual([day(first), day(last)], ["2026-05-16T00", "2026-11-17T00"]);
});

test("a plot by months is labelled by the months whose bars it shows", () => {
  const months = monthsBetween(...spanOf("2026-11-14", "2027-01-24", "month")).map(day);
  assert.deepEqual(months, ["2026-11-01T00", "2026-12-01T00", "2027-01-01T00"]);
});

test("days are shown whole", () => {
  const [first, last] = spanOf("2026-11-24", "2026-11-24", "day");
  assert.deepEqual([day(first), day(last)], ["2026-11-23T12", "2026-11-24T12"]);
});
