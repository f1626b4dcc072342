import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorCodes } from '../../src/errors.ts';
import { KNOWN_FIELDS } from '../../src/profile/profile-draft.ts';
import { errorGuide } from '../../tools/error-guide.js';
import { errorDocs } from '../../tools/make-error-docs.js';
import { environment, fieldMeanings, optionDocs } from '../../tools/make-option-docs.js';
import { root, textOf } from './blocks.ts';

describe('what is made from the code is up to date (npm run docs):', () => {
  it('docs/errors.md, every error caused anew', async () => {
    expect(textOf('docs/errors.md')).toBe(await errorDocs());
  });

  it('docs/options.md', () => {
    expect(textOf('docs/options.md')).toBe(optionDocs());
  });
});

describe('what the pages say beyond the code is about all of it, and nothing else:', () => {
  it('the codes of errors', () => {
    expect(Object.keys(errorGuide)).toEqual(Object.keys(errorCodes));
  });

  it('the fields of profiles', () => {
    expect(Object.keys(fieldMeanings)).toEqual([...KNOWN_FIELDS]);
  });

  it('the variables of the environment', () => {
    const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    );
    const source = files.map((file) => readFileSync(join(root, 'src', file), 'utf8')).join('\n');
    const named = source.matchAll(/\benv\['(\w+)'\]|'((?:(?:HTTPS?|ALL)_PROXY)|XDG_\w+)'/g);
    const read = [...named].map(([, member, name]) => member ?? name).filter((name) => name !== 'no_proxy');
    const told = Object.keys(environment).flatMap((names) => names.split(', '));
    expect([...new Set(read)].sort()).toEqual(told.sort());
  });
});
