import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  createOwnerId,
  getProcessStatus,
  type ProcessTable,
  parseOwnerId,
  platformProcesses,
} from '../../../src/store/lock/process-status.ts';

describe.skipIf(process.platform !== 'linux')('the status of a process on Linux', () => {
  it('is "running" for this process, and "ended" for its PID with another start time', () => {
    const id = createOwnerId();
    expect(parseOwnerId(id)?.pid).toBe(process.pid);
    expect(getProcessStatus(id)).toBe('running');
    expect(getProcessStatus(id.replace(/-\d+-([0-9a-f]{16})$/, '-1-$1'))).toBe('ended');
  });

  it('is "running" for a stopped process, and "ended" for a killed one', async () => {
    const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] });
    await once(child, 'spawn');
    const [scope] = createOwnerId().split('-');
    const id = `${scope}-${child.pid}-${platformProcesses().startTime(child.pid as number)}-${'0'.repeat(16)}`;
    expect(getProcessStatus(id)).toBe('running');
    child.kill('SIGSTOP');
    expect(getProcessStatus(id)).toBe('running');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(getProcessStatus(id)).toBe('ended');
  });

  it('is "ended" for a zombie', async () => {
    // The shell becomes a program that never waits for its child, which is still running at that time.
    const parent = spawn('sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const pid = Number(String((await once(parent.stdout, 'data'))[0]));
    await expect.poll(() => platformProcesses().startTime(pid)).toBeUndefined();
    expect(() => process.kill(pid, 0)).not.toThrow();
    parent.kill();
  });
});

describe('the status of a lock owner', () => {
  const scope = 'a'.repeat(12);
  const processes = (changes: Partial<ProcessTable>): ProcessTable => ({ scope, startTime: () => '5', ...changes });
  const id = `${scope}-7-5-${'0'.repeat(16)}`;

  it.each<[string, string, Partial<ProcessTable>]>([
    ['running', 'the PID has the same start time', {}],
    ['ended', 'the PID is not in use', { startTime: () => undefined }],
    ['ended', 'the PID has another start time', { startTime: () => '6' }],
    ['unknown', 'the boot or the namespace is another', { scope: 'b'.repeat(12) }],
    ['unknown', 'the platform does not tell boots and namespaces apart', { scope: undefined }],
    [
      'unknown',
      'processes are hidden',
      {
        startTime: () => {
          throw new Error('hidden');
        },
      },
    ],
  ])('is %j if %s', (status, _, changes) => {
    expect(getProcessStatus(id, processes(changes))).toBe(status);
  });

  it('is "unknown" in every process if the owner has no scope', () => {
    const withoutScope = processes({ scope: undefined });
    const owner = createOwnerId(withoutScope);
    expect(parseOwnerId(owner)).toBeDefined();
    expect(getProcessStatus(owner, withoutScope)).toBe('unknown');
    expect(getProcessStatus(owner, processes({ scope: '0'.repeat(12) }))).toBe('unknown');
  });

  it.each(['', 'x', '../../a', `${id}x`, `x${id}`])('is "unknown" for the invalid id %j', (invalid) => {
    expect(parseOwnerId(invalid)).toBeUndefined();
    expect(getProcessStatus(invalid, processes({}))).toBe('unknown');
  });
});
