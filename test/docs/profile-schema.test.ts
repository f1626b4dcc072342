import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { profileSchema } from '../../tools/make-profile-schema.js';
import { samples } from '../support/profiles.ts';
import { blocksOf, pages, root } from './blocks.ts';

const schema = JSON.parse(readFileSync(join(root, 'profiles.schema.json'), 'utf8'));
const isValid = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allowUnionTypes: true }).compile(
  schema,
);

/** Profiles of the documentation, by place. */
const shown = pages
  .flatMap((page) => blocksOf(page))
  .filter(
    ({ language, text }) =>
      language === 'yaml' && /^ +type: /m.test(text) && !/^(?:steps|\w+:$\n^ +steps):/m.test(text),
  )
  .map(({ place, text }) => [place, text] as const);

/** The profiles of whole-program cases whose commands succeed. */
const cases = join(root, 'test', 'cli', 'cases');
const succeeding = readdirSync(cases).flatMap((file) => {
  const text = readFileSync(join(cases, file), 'utf8');
  if (text.includes('```console exit') || file === 'README.md') return [];
  return [...text.matchAll(/^```yaml oauth-profiles\.yaml\n(.*?)^```$/gms)].map(
    ([, yaml = '']) => [file, yaml] as const,
  );
});

describe('The JSON Schema of profiles', () => {
  it('is up to date (npm run docs)', () => {
    expect(schema).toEqual(profileSchema());
  });

  it.each([...shown, ...succeeding])('accepts the profiles of %s', (_, text) => {
    for (const file of parseAllDocuments(text)) expect(isValid(file.toJS()), JSON.stringify(isValid.errors)).toBe(true);
  });

  it('accepts a profile of each type and grant', () => {
    expect(isValid({ ...samples }), JSON.stringify(isValid.errors)).toBe(true);
    expect(shown.length + succeeding.length).toBeGreaterThan(30);
  });

  it.each([
    'a: {type: "${env:TYPE}", options: {timeout: "${env:TIMEOUT}", reuse: "${reuse:-true}"}}',
    'a: {type: custom, url: https://a.example/token, scope: [read, write], tenant: 7, flag: true, empty: }',
    'a: {type: custom, options.timeout: 2m, options: {min_ttl: 30, reuse: false}, basic.user: me}',
    'a: {type: custom, options: {assertion: {sub: me, box_sub_type: user, lifetime: 45s}}}',
    'a: {type: custom, options.assertion.sub: me, options: {assertion.box_sub_type: user}}',
    'a: {prod: {type: okta, tenant_id: acme}, test: {type: okta, tenant_id: acme-test}}',
    'base: https://api.example.com\norders: {lines: [1, 2]}\na.type: google\na.client_id: x',
  ])('accepts %j', (text) => {
    expect(isValid(parse(text)), JSON.stringify(isValid.errors)).toBe(true);
  });

  it.each([
    'a: {type: Microsoft}',
    'a: {type: custom, client_id: [x]}',
    'a: {type: custom, options: {timeot: 5s}}',
    'a: {type: custom, options.timeot: 5s}',
    'a: {type: custom, options: {timeout: soon}}',
    'a: {type: custom, options: {client_auth: secret}}',
    'a: {type: custom, options: {reuse: maybe}}',
    'a: {type: custom, options: {assertion: {lifetime: soon}}}',
    'a: {prod: {type: unknown}}',
    'a: {type: custom, prod: {type: unknown}}',
    '[a]',
  ])('rejects %j', (text) => {
    expect(isValid(parse(text))).toBe(false);
  });
});
