import { describe, expect, it } from 'vitest';
import type { Server } from './describe-server.ts';

/** A diagnostic of `check --online --json`. */
interface Diagnostic {
  readonly level: string;
  readonly about: string;
  readonly where: string;
  readonly message: string;
  readonly hint?: string;
}

/** The diagnostics about the metadata of the server. */
async function discover(server: Server, profile: string): Promise<{ exit: number | null; found: Diagnostic[] }> {
  const { exit, stdout } = await server.run(`check ${profile} --online --json`);
  const diagnostics: Diagnostic[] = JSON.parse(stdout).profiles[0].diagnostics;
  return { exit, found: diagnostics.filter(({ about }) => about === 'discovery') };
}

/** Declares the tests of `check --online` at a server whose metadata is at `path`. */
export function testCheckOnline(server: Server, path: string, profiles = ['robot', 'web', 'tool']): void {
  describe('check --online', () => {
    it.each(profiles)('the profile %s agrees with the metadata, before and after a login', async (profile) => {
      const expected = { level: 'ok', where: `${server.origin}${path}` };
      const { exit, found } = await discover(server, profile);
      expect(found).toContainEqual(expect.objectContaining(expected));
      expect(found.filter(({ level }) => level !== 'ok' && level !== 'note')).toEqual([]);
      expect(exit).toBe(profile === 'robot' ? 0 : 2);
      // Nothing is sent but requests for documents.
      expect(server.received).toEqual([]);
      if (profile === 'robot') return;
      expect(await server.login(profile)).toMatchObject({ exit: 0 });
      const after = await discover(server, profile);
      expect(after.found).toContainEqual(expect.objectContaining(expected));
      expect(after.exit).toBe(0);
    });
  });
}

/** Declares the test of `check --online` at a server without metadata. */
export function testCheckWithoutMetadata(server: Server): void {
  describe('check --online', () => {
    it('a server without metadata is not an error', async () => {
      const { exit, found } = await discover(server, 'robot');
      expect(found).toMatchObject([{ level: 'note' }]);
      expect(exit).toBe(0);
    });
  });
}
