import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const file = new URL("../../../../src/sederunt/console/assets/finding.js", import.meta.url);
const { phrasesOf, placesOf, termsOf } = await import(`data:text/javascript,${encodeURIComponent(readFileSync(file, "utf8"))}`);

const found = (question, text) => placesOf(termsOf(text), phrasesOf(question));

test("texts are taken apart as the service does it", () => {
  // The rows of tests/unit/model/test_search_terms.py.
  for (const [text, words] of [
    ["Don't stop, it's 5.30!", ["don", "t", "stop", "it", "s", "5", "30"]],
    ["Café ŁÓDŹ straße ﬁn", ["cafe", "łodz", "strasse", "fin"]],
    ["明日のMeeting", ["明", "日", "の", "meeting"]],
    ["योजना", ["योजना"]],
    ["…", []],
  ]) assert.deepEqual(termsOf(text), words, text);
  assert.deepEqual(termsOf("ΟΔΟΣ οδός"), ["οδοσ", "οδοσ"]);
});

test("every word of a question has to be there, wherever", () => {
  const text = "The budget is, as Ada said, the road map's: all of it.";
  for (const [question, places] of [
    ["map budget", [1, 8]],
    ["bud", [1]], // a begun word
    ["udge", [1]], // … or the middle of one, as one types
    ['"road map"', [7, 8]],
    ['"is as"', [2, 3]], // whatever stands between them
    ['"road ma"', null],
    ['budget "ada said"', [1, 4, 5]],
    ["map's", [8, 9]],
    ["budget zanzibar", null],
    ['"road', [7]], // a quotation that is being typed
    ["…", null],
    ["", null],
  ]) assert.deepEqual(found(question, text), places && new Set(places), question);
});

test("scripts without spaces are found by their characters", () => {
  assert.deepEqual(found("明日", "では明日の会議"), new Set([2, 3]));
});
