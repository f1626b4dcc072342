import { signAssertion } from '../../src/http/client-assertion.ts';
import { createDpop } from '../../src/http/dpop.ts';
import type { Clock, Ports } from '../../src/ports.ts';
import { sendWith } from './wire-request.ts';

/** A clock that advances only while something sleeps. */
export class FakeClock implements Clock {
  readonly slept: number[] = [];
  time = Date.UTC(2027, 0, 1);
  /** Called during each sleep. */
  whileAsleep: () => unknown = () => {};

  now = (): number => this.time;

  async sleep(ms: number): Promise<void> {
    this.slept.push(ms);
    this.time += ms;
    await this.whileAsleep();
  }
}

/** The real transport, with a fake clock, a fixed random number and a log that a test reads. */
export function fakePorts(
  changes: Partial<Ports> = {},
): Ports & { readonly clock: FakeClock; readonly lines: string[] } {
  const lines: string[] = [];
  const clock = new FakeClock();
  return {
    send: sendWith(),
    sign: signAssertion,
    readAssertion: () => Promise.reject(new Error('no assertion source')),
    dpop: async () => createDpop(clock),
    clock,
    random: () => 0.5,
    log: (line) => lines.push(line),
    version: '1.2.3',
    lines,
    ...(changes as object),
  };
}
