import type { EmulatorRequest } from '../messages.ts';
import type { TokenSubject } from '../provider.ts';
import type { RequestContext } from '../realm.ts';
import type { Client } from '../subjects.ts';

/** A token request after client authentication. */
export interface GrantRequest {
  readonly context: RequestContext;
  readonly request: EmulatorRequest;
  readonly client: Client | undefined;
  readonly clientAuth: TokenSubject['clientAuth'];
}
