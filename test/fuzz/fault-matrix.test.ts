import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FaultKind, faultKinds } from '../../src/emulator/fault.ts';
import { grantCases, grantRow, loginRow, otherRow, rowText } from './fault-matrix.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'faults.md'), 'utf8');

/** A few that take no time, in the order of the grants; `node tools/make-fault-matrix.js --check` tries all. */
const tried: readonly (readonly FaultKind[])[] = [
  ['500'],
  ['429', 'no-password'],
  ['html'],
  ['500', 'no-password'],
  ['empty', 'slow'],
];

/** The part of the page below a headline. */
function section(title: string): string {
  const [, part = ''] = page.split(`\n## ${title}\n`);
  return part.split('\n## ')[0] ?? '';
}

describe('docs/faults.md', () => {
  it('tells what faults come to with each grant', async () => {
    const check = async (grant: (typeof grantCases)[number], index: number): Promise<void> => {
      const rows = await Promise.all((tried[index] ?? []).map((fault) => grantRow(grant, fault)));
      expect(section(grant.title).split('\n')).toEqual(expect.arrayContaining(rows.map(rowText)));
    };
    await Promise.all(grantCases.map(check));
  });

  it('tells what faults come to when a person signs in', async () => {
    const rows = await Promise.all((['429', '500', 'wrong-type'] as const).map(loginRow));
    expect(section('login').split('\n')).toEqual(expect.arrayContaining(rows.map(rowText)));
  });

  it('tells that faults of the token endpoint are nothing to check --online and logout --revoke', async () => {
    const row = await otherRow('500');
    expect(section('check --online and logout --revoke').split('\n')).toContain(rowText(row));
  });

  it('has a line for every fault in every table', () => {
    for (const fault of faultKinds) {
      expect(page.split(`\n| \`${fault}\` |`)).toHaveLength(grantCases.length + 3);
    }
  });
});
