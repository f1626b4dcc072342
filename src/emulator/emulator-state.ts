import type { RequestLog } from './control/request-log.ts';
import type { Stubs } from './endpoints/stubs.ts';
import type { FaultPlan } from './faults.ts';
import type { Realms } from './realms.ts';
import type { SigningKeys } from './tokens/signing-keys.ts';
import type { TokenStates } from './tokens/token-state.ts';

/** Everything that a running emulator consists of. */
export interface EmulatorState {
  readonly realms: Realms;
  readonly log: RequestLog;
  readonly faults: FaultPlan;
  readonly keys: SigningKeys;
  readonly states: TokenStates;
  readonly stubs: Stubs;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  /** Adds the users and clients of the configuration again. */
  readonly restore: () => void;
}
