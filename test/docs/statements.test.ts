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
