// Minutes per day or month, stacked by nothing: one bar each.

import { beginningOf, monthsBetween, spanOf } from './usage_span.js';
import uPlot from './vendor/uplot.esm.js';

const place = /** @type {HTMLElement} */ (document.querySelector('.plot'));
/** @type {{period: string, minutes: number}[]} */
const rows = JSON.parse(place.dataset.rows ?? '[]');
const styles = getComputedStyle(document.documentElement);

/** @type {Map<number, number>} */
const sums = new Map();
for (const row of rows) {
  const at = beginningOf(row.period);
  sums.set(at, (sums.get(at) ?? 0) + row.minutes);
}
const span = spanOf(place.dataset.from ?? '', place.dataset.to ?? '', place.dataset.group ?? '');
const monthName = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric', timeZone: 'UTC' });
const months = place.dataset.group === 'month' && {
  splits: () => monthsBetween(...span),
  values: (/** @type {unknown} */ _plot, /** @type {number[]} */ splits) => splits.map((at) => monthName.format(new Date(at * 1000))),
};
const times = [...sums.keys()].sort((one, other) => one - other);

/** A colour of the theme, as the canvas takes it. @param {string} name */
function colour(name) {
  const probe = document.createElement('span');
  probe.style.color = styles.getPropertyValue(name);
  place.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

if (times.length) {
  const [soft, line, accent] = [colour('--soft'), colour('--line'), colour('--accent')];
  const axis = { stroke: soft, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const options = {
    width: place.clientWidth,
    height: 240,
    tzDate: (/** @type {number} */ at) => uPlot.tzDate(new Date(at * 1000), 'Etc/UTC'),
    cursor: { y: false },
    scales: { x: { time: true, range: () => span }, y: { range: (/** @type {unknown} */ _plot, /** @type {number} */ _least, /** @type {number} */ most) => [0, Math.max(most, 1) * 1.1] } },
    axes: [{ ...axis, ...months }, { ...axis, size: 60 }],
    series: [months ? { label: 'Month', value: (/** @type {unknown} */ _plot, /** @type {number | null} */ at) => (at === null ? '–' : monthName.format(new Date(at * 1000))) } : {}, { label: 'Minutes', stroke: accent, fill: accent, paths: uPlot.paths.bars({ size: [0.6, 60] }), points: { show: false } }],
  };
  const plot = new uPlot(options, [times, times.map((at) => sums.get(at) ?? 0)], place);
  new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: 240 })).observe(place);
}
