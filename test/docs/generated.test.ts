import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorCodes } from '../../src/errors.ts';
import { KNOWN_FIELDS } from '../../src/profile/profile-draft.ts';
import { kinds } from '../../src/script/parameter-kinds.ts';
import { errorGuide } from '../../tools/error-guide.js';
import { errorDocs } from '../../tools/make-error-docs.js';
import { cliDocs, environment, fieldMeanings, profileDocs } from '../../tools/make-option-docs.js';
import { argumentTypes, scriptDocs } from '../../tools/make-script-docs.js';
import { readPage, root } from './blocks.ts';

describe('generated pages are up to date (npm run docs):', () => {
  it('docs/reference/errors.md, which causes every error', async () => {
    expect(readPage('docs/reference/errors.md')).toBe(await errorDocs());
  });

  it('docs/reference/cli.md', () => {
    expect(readPage('docs/reference/cli.md')).toBe(cliDocs());
  });

  it('docs/reference/scripts.md', () => {
    expect(readPage('docs/reference/scripts.md')).toBe(scriptDocs());
  });

  it('docs/reference/profiles.md', () => {
    expect(readPage('docs/reference/profiles.md')).toBe(profileDocs());
  });
});

describe('hand-written parts of generated pages cover exactly', () => {
  it('the kinds of parameters', () => {
    expect(Object.keys(argumentTypes)).toEqual(Object.keys(kinds));
  });

  it('the error codes', () => {
    expect(Object.keys(errorGuide)).toEqual(Object.keys(errorCodes));
  });

  it('the fields of profiles', () => {
    expect(Object.keys(fieldMeanings)).toEqual([...KNOWN_FIELDS]);
  });

  it('the environment variables', () => {
    const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    );
    const source = files.map((file) => readFileSync(join(root, 'src', file), 'utf8')).join('\n');
    const named = source.matchAll(/\benv\['(\w+)'\]|'((?:(?:HTTPS?|ALL)_PROXY)|XDG_\w+)'/g);
    // The proxy variables are built from the scheme of the URL: src/http/proxy.ts.
    const proxies = ['HTTP_PROXY', 'HTTPS_PROXY'];
    const read = [...[...named].map(([, member, name]) => member ?? name), ...proxies].filter(
      (name) => name !== 'no_proxy',
    );
    const documented = Object.keys(environment).flatMap((names) => names.split(', '));
    expect([...new Set(read)].sort()).toEqual(documented.sort());
  });
});
