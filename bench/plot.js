import { OURS } from './clients.js';

const ROW = 24;
const BAR = 16;
const PLOT_WIDTH = 420;
const TOP = 40;
/** Average width of a character in pixels, large enough for any sans-serif font at this size. */
const CHARACTER = 7.4;

/** Readable on light and dark pages: an SVG in an `img` sees the reader's colour scheme too. */
const style = `
text { font: 13px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #24292f }
.heading { font-weight: 600 }
.bar { fill: #9aa4b2 } .ours { fill: #2f6feb }
.value { font-variant-numeric: tabular-nums }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .bar { fill: #6e7681 } .ours { fill: #58a6ff } }
`;

/**
 * Returns an SVG with horizontal bars; ours are highlighted.
 * @param {string} heading
 * @param {{ name: string, value: number, label: string }[]} rows
 */
export function bars(heading, rows) {
  const nameWidth = widthOf(rows.map(({ name }) => name)) + 12;
  const width = Math.max(
    nameWidth + PLOT_WIDTH + widthOf(rows.map(({ label }) => label)) + 16,
    widthOf([heading]) * 1.1 + 16,
  );
  const height = TOP + rows.length * ROW + 8;
  const most = Math.max(...rows.map(({ value }) => value));
  const drawn = rows.map(({ name, value, label }, index) => {
    const y = TOP + index * ROW;
    const length = Math.max((value / most) * PLOT_WIDTH, 1);
    return [
      `<text x="${nameWidth - 8}" y="${y + 13}" text-anchor="end">${escapeXml(name)}</text>`,
      `<rect class="${name.includes(OURS) ? 'ours' : 'bar'}" x="${nameWidth}" y="${y}" width="${length.toFixed(1)}" height="${BAR}" rx="2"/>`,
      `<text class="value" x="${(nameWidth + length + 6).toFixed(1)}" y="${y + 13}">${escapeXml(label)}</text>`,
    ].join('\n');
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(width)}" height="${height}" viewBox="0 0 ${Math.ceil(width)} ${height}" role="img">`,
    `<title>${escapeXml(heading)}</title>`,
    `<style>${style}</style>`,
    `<text class="heading" x="8" y="20">${escapeXml(heading)}</text>`,
    ...drawn,
    '</svg>',
    '',
  ].join('\n');
}

/** @param {string[]} labels */
function widthOf(labels) {
  return Math.max(...labels.map((label) => label.length)) * CHARACTER;
}

/** @param {string} text */
function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
