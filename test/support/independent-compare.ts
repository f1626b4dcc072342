import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Party, type PartyName, partyNames, type SigningKeys, startParties } from './independent-parties.ts';

/** One mistake, or one right request, and what it comes to. */
export interface Case {
  /** Those who know the grant or the client authentication; all unless said otherwise. */
  readonly of?: readonly PartyName[];
  /** What the RFC leaves no choice about: the emulator has to answer so, whatever the others do. */
  readonly must?: string;
  readonly try: (party: Party) => Promise<string>;
}

/** Tries every case with every server: all answer alike, or as the page says under that heading. */
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

  describe(`the emulator beside independent servers: ${heading}`, () => {
    it.each(Object.entries(cases))(
      '%s: all answer alike, or as docs/contributing/testing.md says',
      async (name, one) => {
        const answers: Partial<Record<PartyName, string>> = {};
        for (const party of parties) {
          if (one.of?.includes(party.name) === false) continue;
          answers[party.name] = await one.try(party);
          vi.useRealTimers();
        }
        if (one.must !== undefined) expect(answers.emulator).toBe(one.must);
        const known = documented.get(name);
        if (known !== undefined) expect(answers).toEqual(known);
        else expect(new Set(Object.values(answers).map(gist)), JSON.stringify(answers)).toHaveLength(1);
      },
    );

    it('docs/contributing/testing.md names no disagreement that is not tried', () => {
      expect([...documented.keys()].filter((name) => !Object.hasOwn(cases, name))).toEqual([]);
    });
  });
}

/** Lets time pass for the servers, which have no timers. */
export function passSeconds(seconds: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 });
}

/** Statuses of one class mean the same: RFC 6749 §5.2 lets a server choose between 400 and 401. */
function gist(answer: string): string {
  return answer.replace(/^(\d)\d\d /, '$1xx ');
}

/** The table below a heading of the page: what each server answers, by case. */
function disagreements(heading: string): Map<string, Partial<Record<PartyName, string>>> {
  const page = readFileSync(new URL('../../docs/contributing/testing.md', import.meta.url), 'utf8');
  const [, section = ''] = page.split(`\n### ${heading}\n`);
  const [table = ''] = section.split('\n#');
  const rows = table.split('\n').filter((line) => /^\| [^|]+ \| (?:`|–)/.test(line));
  if (rows.length === 0) throw new Error(`docs/contributing/testing.md has no table below ${heading}`);
  return new Map(
    rows.map((row) => {
      const [, name = '', ...cells] = row.split('|').map((cell) => cell.trim());
      const answers = partyNames
        .map((party, index) => [party, cells[index] ?? ''] as const)
        .filter(([, cell]) => cell !== '–')
        .map(([party, cell]) => [party, cell.replace(/^`|`$/g, '')]);
      return [name, Object.fromEntries(answers)];
    }),
  );
}
