import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

/** Statements that users must find before they install the package or run the files of others. */
it.each([
  ['README.md', 'not on npm yet'],
  ['docs/how-to/ci.md', 'not on npm yet'],
  ['SECURITY.md', 'There is no telemetry'],
  ['SECURITY.md', 'are trusted like its `Makefile`'],
  ['docs/how-to/company-network.md', 'options.ca_file'],
  ['docs/how-to/company-network.md', 'HTTPS_PROXY'],
  ['docs/faq.md', 'Windows'],
  ['docs/providers/okta.md', 'service app'],
  ['docs/providers/microsoft.md', 'certificate'],
  ['docs/contributing/testing.md', 'mutation'],
])('%s states: %s', (page, statement) => {
  expect(readFileSync(join(root, page), 'utf8').toLowerCase()).toContain(statement.toLowerCase());
});

it.each(['README.md', 'docs/tutorial/first-token.md', 'docs/providers/custom.md'])(
  'the profiles of %s do not use the password grant',
  (page) => {
    expect(readFileSync(join(root, page), 'utf8')).not.toMatch(/grant_type: password/);
  },
);

it('docs/explanation/architecture.md lists functions that exist, 15 for a cached token and at most 35 for a refresh', () => {
  const page = readFileSync(join(root, 'docs', 'explanation', 'architecture.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (\d+) \| `([^`]+)` \| (?:`([^`]+)`)? *\|/gm)];
  const numbers = rows.map(([, number]) => Number(number));
  expect(numbers).toEqual(Array.from(rows, (_, index) => index + 1));
  expect(rows.length).toBeGreaterThan(15);
  expect(rows.length).toBeLessThanOrEqual(35);
  expect(page).toContain('### A cached token: 15 functions');
  expect(page).toContain(`### A refresh: ${rows.length} functions`);
  const defines = (file: string, name: string): boolean => {
    const source = readFileSync(join(root, 'src', file), 'utf8');
    return new RegExp(`(?:function|class|async|const|^ +|#)\\s*${name}\\b`, 'm').test(source);
  };
  // The first row is the program, which has no function.
  expect(
    rows
      .slice(1)
      .filter(([, , file = '', name = '']) => !defines(file, name))
      .map(([row]) => row),
  ).toEqual([]);
});
