// Which stretch of time the plot of usage shows: what was asked for, whole bars included, not what happens to be in it.

const DAY_S = 86_400;

/** The moment at which a day or a month begins, in Unix seconds. @param {string} period */
export function beginningOf(period) {
  return Date.parse(`${period.length === 7 ? `${period}-01` : period}T00:00:00Z`) / 1000;
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
