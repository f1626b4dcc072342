import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  createOwnerId,
  getProcessStatus,
  parseOwnerId,
  readStartTime,
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
    const id = `${scope}-${child.pid}-${readStartTime(child.pid as number)}-${'0'.repeat(16)}`;
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
    await expect.poll(() => readStartTime(pid)).toBeUndefined();
    expect(() => process.kill(pid, 0)).not.toThrow();
    parent.kill();
  });
});

describe('the status of a lock owner', () => {
  const scope = 'a'.repeat(12);
  const id = `${scope}-7-5-${'0'.repeat(16)}`;
  const noScope = '0'.repeat(12);
  const hidden = () => {
    throw new Error('hidden');
  };

  it.each<[string, string, string, () => string | undefined]>([
    ['running', 'the PID has the same start time', scope, () => '5'],
    ['ended', 'the PID is not in use', scope, () => undefined],
    ['ended', 'the PID has another start time', scope, () => '6'],
    ['unknown', 'the boot or the namespace is another', 'b'.repeat(12), () => '5'],
    ['unknown', 'the platform does not tell boots and namespaces apart', noScope, () => '5'],
    ['unknown', 'processes are hidden', scope, hidden],
  ])('is %j if %s', (status, _, ownScope, startTime) => {
    expect(getProcessStatus(id, ownScope, startTime)).toBe(status);
  });

  it('is "unknown" in every process if the owner has no scope', () => {
    const owner = createOwnerId(noScope);
    expect(parseOwnerId(owner)).toBeDefined();
    expect(getProcessStatus(owner, noScope)).toBe('unknown');
    expect(getProcessStatus(owner, scope)).toBe('unknown');
  });

  it.each(['', 'x', '../../a', `${id}x`, `x${id}`])('is "unknown" for the invalid id %j', (invalid) => {
    expect(parseOwnerId(invalid)).toBeUndefined();
    expect(getProcessStatus(invalid, scope)).toBe('unknown');
  });
});
