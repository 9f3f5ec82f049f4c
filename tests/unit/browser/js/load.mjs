// Runs in-page scripts outside of a browser: in a realm that holds nothing but what a test hands in.
import { readFileSync } from "node:fs";
import vm from "node:vm";

const FOLDER = new URL("../../../../src/sederunt/browser/js/", import.meta.url);

/**
 * Run these scripts one after another. Returns the realm, whose `capture` is the scripts' namespace.
 * @param {string[]} names
 * @param {Record<string, unknown>} globals
 */
export function load(names, globals = {}) {
  const realm = vm.createContext({ capture: {}, ...globals });
  for (const name of names) vm.runInContext(readFileSync(new URL(name, FOLDER), "utf8"), realm, { filename: name });
  return realm;
}

/** Plain values of this realm: deepEqual tells objects of two realms apart. */
export const plain = (value) => JSON.parse(JSON.stringify(value));
