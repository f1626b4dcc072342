import { signAssertion } from '../../src/http/client-assertion.ts';
import type { Clock, Ports } from '../../src/ports.ts';
import { sendWith } from './wire-request.ts';

/** Time that stands still until somebody sleeps. */
export class FakeClock implements Clock {
  readonly slept: number[] = [];
  time = Date.UTC(2027, 0, 1);
  /** Called while somebody sleeps. */
  whileAsleep: () => unknown = () => {};

  now = (): number => this.time;

  async sleep(ms: number): Promise<void> {
    this.slept.push(ms);
    this.time += ms;
    await this.whileAsleep();
  }
}

/** The real transport with a clock, chance and log that a test owns. */
export function fakePorts(
  changes: Partial<Ports> = {},
): Ports & { readonly clock: FakeClock; readonly lines: string[] } {
  const lines: string[] = [];
  const clock = new FakeClock();
  return {
    send: sendWith(),
    sign: signAssertion,
    clock,
    random: () => 0.5,
    log: (line) => lines.push(line),
    version: '1.2.3',
    lines,
    ...(changes as object),
  };
}
