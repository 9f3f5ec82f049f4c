import assert from "node:assert/strict";
import { test } from "node:test";
import vm from "node:vm";
import { load, plain } from "./load.mjs";

function realm() {
  const window = { setTimeout, clearTimeout, setInterval, clearInterval, WebSocket: class {} };
  const made = load(["natives.js"], { window, performance, TextEncoder, EventTarget, crypto });
  return { capture: made.capture, window, Date: vm.runInContext("Date", made) };
}

test("a replaced method passes for the browser's own", () => {
  const { capture, Date } = realm();
  const before = Object.getOwnPropertyDescriptor(Date.prototype, "getTime");
  const source = Date.prototype.getTime.toString();
  capture.replace(Date.prototype, "getTime", (native, self, args) => native.apply(self, args) + 1);
  assert.equal(new Date(1).getTime(), 2);
  assert.equal(Date.prototype.getTime.toString(), source);
  const after = Object.getOwnPropertyDescriptor(Date.prototype, "getTime");
  assert.deepEqual([after.enumerable, after.writable], [before.enumerable, before.writable]);
});

test("what is not there is not replaced", () => {
  const { capture, Date } = realm();
  capture.replace(Date.prototype, "missing", () => 1);
  assert.equal("missing" in Date.prototype, false);
});

test("a replaced constructor sees each instance, which stays an instance of the page's class", () => {
  const { capture, window } = realm();
  const seen = [];
  capture.replaceConstructor("WebSocket", (instance, args) => seen.push([instance instanceof window.WebSocket, ...args]));
  const made = new window.WebSocket("wss://meeting");
  assert.deepEqual(seen, [[true, "wss://meeting"]]);
  assert.equal(made.constructor, window.WebSocket);
});

test("a fault of ours never reaches the page; the last twenty are kept", () => {
  const { capture } = realm();
  for (let n = 0; n < 25; n += 1) {
    capture.quietly(() => {
      throw new Error(`${n}`);
    });
  }
  assert.equal(capture.faults.length, 20);
  assert.deepEqual(plain(capture.faults.slice(-1)), ["Error: 24"]);
});
