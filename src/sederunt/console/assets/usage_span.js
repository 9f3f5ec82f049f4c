// Which stretch of time the plot of usage shows: what was asked for, whole bars included, not what happens to be in it.

const DAY_S = 86_400;

/** The moment at which a day or a month begins, in Unix seconds. @param {string} period */
export function beginningOf(period) {
  return Date.parse(`${period.length === 7 ? `${period}-01` : period}T00:00:00Z`) / 1000;
}

/**
 * The beginnings of the months between two moments, in Unix seconds: a month's bar is labelled by its own name.
 * @param {number} from @param {number} to
 */
export function monthsBetween(from, to) {
  const [year, month] = [new Date(from * 1000).getUTCFullYear(), new Date(from * 1000).getUTCMonth()];
  const months = [];
  for (let next = month + 1; Date.UTC(year, next) / 1000 <= to; next += 1) months.push(Date.UTC(year, next) / 1000);
  return months;
}

/**
 * The two ends of the axis, in Unix seconds: bars stand on the beginnings of their periods and reach half a period
 * to each side.
 * @param {string} from @param {string} to days @param {string} group
 * @returns {[number, number]}
 */
export function spanOf(from, to, group) {
  const [half, first, last] = group === 'month' ? [16 * DAY_S, from.slice(0, 7), to.slice(0, 7)] : [DAY_S / 2, from, to];
  return [beginningOf(first) - half, beginningOf(last) + half];
}
