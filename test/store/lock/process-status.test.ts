import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { inventOwner, lifeOf, ours } from '../../../src/store/lock/owner.ts';
import { isOwner, partsOf } from '../../../src/store/lock/owner-name.ts';
import type { Processes } from '../../../src/store/lock/processes.ts';
import { psProcesses } from '../../../src/store/lock/ps-processes.ts';

const real: [string, () => Processes][] = [['ps', psProcesses]];
if (process.platform === 'linux') real.unshift(['/proc', ours]);

describe.each(real)('processes as %s shows them', (_, make) => {
  it('are told apart by number and start', () => {
    const processes = make();
    const me = inventOwner(processes);
    expect(isOwner(me)).toBe(true);
    expect(partsOf(me)?.pid).toBe(process.pid);
    expect(lifeOf(me, processes)).toBe('alive');
    expect(lifeOf(me.replace(/-\d+-([0-9a-f]{16})$/, '-1-$1'), processes)).toBe('dead');
  });

  it('are dead when they are gone', async () => {
    const processes = make();
    const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] });
    await once(child, 'spawn');
    const [where] = inventOwner(processes).split('-');
    const owner = `${where}-${child.pid}-${processes.startOf(child.pid as number)}-${'0'.repeat(16)}`;
    expect(lifeOf(owner, processes)).toBe('alive');
    child.kill('SIGSTOP');
    expect(lifeOf(owner, processes)).toBe('alive');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(lifeOf(owner, processes)).toBe('dead');
  });
});

describe.skipIf(process.platform !== 'linux')('a zombie', () => {
  it('is dead', async () => {
    // The shell becomes a program that never asks how its child ended; the child is still there by then.
    const parent = spawn('sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const pid = Number(String((await once(parent.stdout, 'data'))[0]));
    await expect.poll(() => ours().startOf(pid)).toBeUndefined();
    expect(() => process.kill(pid, 0)).not.toThrow();
    parent.kill();
  });
});

describe('an owner', () => {
  const where = 'a'.repeat(12);
  const processes = (changes: Partial<Processes>): Processes => ({
    where,
    startOf: () => '5',
    askEveryMs: 1,
    ...changes,
  });
  const owner = `${where}-7-5-${'0'.repeat(16)}`;

  it.each<[string, Partial<Processes>, string]>([
    ['alive when the number has the same start', {}, 'alive'],
    ['dead when nobody has the number', { startOf: () => undefined }, 'dead'],
    ['dead when the number has another start', { startOf: () => '6' }, 'dead'],
    ['unknown after another boot, or elsewhere', { where: 'b'.repeat(12) }, 'unknown'],
    ['unknown where places cannot be told apart', { where: undefined }, 'unknown'],
    [
      'unknown where processes cannot be seen',
      {
        startOf: () => {
          throw new Error('hidden');
        },
      },
      'unknown',
    ],
  ])('is %s', (_, changes, life) => {
    expect(lifeOf(owner, processes(changes))).toBe(life);
  });

  it('of a place that cannot be told is unknown to everybody', () => {
    const nowhere = processes({ where: undefined });
    const one = inventOwner(nowhere);
    expect(isOwner(one)).toBe(true);
    expect(lifeOf(one, nowhere)).toBe('unknown');
    expect(lifeOf(one, processes({ where: '0'.repeat(12) }))).toBe('unknown');
  });

  it.each(['', 'x', '../../a', `${owner}x`, `x${owner}`])('is not %j', (text) => {
    expect(isOwner(text)).toBe(false);
    expect(lifeOf(text, processes({}))).toBe('unknown');
  });
});
