import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Party, type PartyName, partyNames, type SigningKeys, startParties } from './independent-parties.ts';

/** A request, valid or not, and its expected outcome. */
export interface Case {
  /** Servers that support the grant or the client authentication. Default: all. */
  readonly of?: readonly PartyName[];
  /** Outcome that the RFC requires of the emulator, whatever the others do. */
  readonly must?: string;
  readonly try: (party: Party) => Promise<string>;
}

/** Tries every case with every server. All outcomes must be equal, or documented below that heading. */
export function compare(heading: string, keys: SigningKeys, cases: Readonly<Record<string, Case>>): void {
  const documented = disagreements(heading);
  let parties: Party[];
  beforeAll(async () => {
    parties = await startParties(keys);
  });
  afterAll(() => Promise.all(parties.map((party) => party.close())));
  afterEach(() => {
    vi.useRealTimers();
  });

  describe(`the emulator and independent servers (${heading})`, () => {
    it.each(Object.entries(cases))('have the same outcome, or the documented ones, for: %s', async (name, testCase) => {
      const outcomes: Partial<Record<PartyName, string>> = {};
      for (const party of parties) {
        if (testCase.of?.includes(party.name) === false) continue;
        outcomes[party.name] = await testCase.try(party);
        vi.useRealTimers();
      }
      if (testCase.must !== undefined) expect(outcomes.emulator).toBe(testCase.must);
      const known = documented.get(name);
      if (known !== undefined) expect(outcomes).toEqual(known);
      else expect(new Set(Object.values(outcomes).map(withStatusClass)), JSON.stringify(outcomes)).toHaveLength(1);
    });

    it('have no documented outcome that is not tested', () => {
      expect([...documented.keys()].filter((name) => !Object.hasOwn(cases, name))).toEqual([]);
    });
  });
}

/** Advances the clock of the servers, which have no timers. */
export function passSeconds(seconds: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 });
}

/** Statuses of one class mean the same: RFC 6749 §5.2 lets a server choose between 400 and 401. */
function withStatusClass(outcome: string): string {
  return outcome.replace(/^(\d)\d\d /, '$1xx ');
}

/** The documented outcomes of each server below a heading, by case. */
function disagreements(heading: string): Map<string, Partial<Record<PartyName, string>>> {
  const page = readFileSync(new URL('../../docs/contributing/testing.md', import.meta.url), 'utf8');
  const [, section = ''] = page.split(`\n### ${heading}\n`);
  const [table = ''] = section.split('\n#');
  const rows = table.split('\n').filter((line) => /^\| [^|]+ \| (?:`|–)/.test(line));
  if (rows.length === 0) throw new Error(`docs/contributing/testing.md has no table below ${heading}`);
  return new Map(
    rows.map((row) => {
      const [, name = '', ...cells] = row.split('|').map((cell) => cell.trim());
      const outcomes = partyNames
        .map((party, index) => [party, cells[index] ?? ''] as const)
        .filter(([, cell]) => cell !== '–')
        .map(([party, cell]) => [party, cell.replace(/^`|`$/g, '')]);
      return [name, Object.fromEntries(outcomes)];
    }),
  );
}
