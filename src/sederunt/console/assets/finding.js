// Words of a text and of a question, taken apart as the service's search does it (model/search_terms.py): what it finds
// is found in the player, too. While one types, the player finds the middle of a word besides.

/** @typedef {{words: string[], quoted: boolean}} Phrase */

// Han, kana, Thai, Lao, Khmer, Myanmar: no spaces between words.
const UNSPACED = '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]';
const WORD = new RegExp(`(?=${UNSPACED})[\\p{L}\\p{N}]\\p{M}*|(?:(?!${UNSPACED})[\\p{L}\\p{N}]\\p{M}*)+`, 'gu');
const MOST_PHRASES = 16;

/** The words of a text, as they are compared. @param {string} text @returns {string[]} */
export function termsOf(text) {
  return (text.match(WORD) ?? []).map((word) => {
    const plain = word.normalize('NFKD').toUpperCase().toLowerCase().replaceAll('ς', 'σ').replace(/[\u0300-\u036f]/g, '');
    return plain.replace(/[^\p{L}\p{N}\p{M}]/gu, '').normalize('NFC') || word;
  });
}

/** What a question asks for: each of its words, and what is quoted as it stands. @param {string} question @returns {Phrase[]} */
export function phrasesOf(question) {
  return [...question.matchAll(/"([^"]*)"|(\S+)/g)]
    .map(([, quoted, bare]) => ({ words: termsOf(quoted || bare || ''), quoted: Boolean(quoted) }))
    .filter((phrase) => phrase.words.length)
    .slice(0, MOST_PHRASES);
}

/**
 * The places of the words that are asked for; null where one of the phrases is not there.
 * @param {string[]} words @param {Phrase[]} asked @returns {Set<number> | null}
 */
export function placesOf(words, asked) {
  /** @type {Set<number>} */
  const places = new Set();
  for (const phrase of asked) {
    let there = false;
    for (let first = 0; first + phrase.words.length <= words.length; first += 1) {
      if (!phrase.words.every((word, step) => fits(words[first + step] ?? '', word, phrase, step))) continue;
      there = true;
      phrase.words.forEach((_, step) => places.add(first + step));
    }
    if (!there) return null;
  }
  return places.size ? places : null;
}

/** A bare word may begin or end within another one. @param {string} word @param {string} wanted @param {Phrase} phrase @param {number} step */
function fits(word, wanted, phrase, step) {
  const [isFirst, isLast] = [step === 0, step === phrase.words.length - 1];
  if (phrase.quoted || !(isFirst || isLast)) return word === wanted;
  if (isFirst && isLast) return word.includes(wanted);
  return isFirst ? word.endsWith(wanted) : word.startsWith(wanted);
}
