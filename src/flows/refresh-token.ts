import { OAuthProfileError, ProviderError, TransportError } from '../errors.ts';
import { getRefreshToken, withRefreshToken } from '../oauth/cache-key.ts';
import type { HttpResponse } from '../oauth/http-response.ts';
import { findRefreshToken } from '../oauth/token-response.ts';
import { loginCommand } from '../profile/profile.ts';
import { Secret } from '../redaction/secret.ts';
import { createFamily, refuseForeign } from './find-family.ts';
import { accepted, findShared, revive } from './find-fresh.ts';
import { endOf, keepToken } from './keep-token.ts';
import { acquireToken, failureOf } from './request-token.ts';
import { type FamilyRecord, fromKept, fromKeptError, toKept, toKeptError } from './stored-record.ts';
import type { Obtained, Task } from './wish.ts';

const MAX_MEMBERS = 32;
const MAX_TOKENS = 16;
const REFUSAL_MS = 5 * 60_000;
/** Whoever is overtaken by others more often than this is in a crowd that ignores the lock. */
const MAX_ROUNDS = 4;
/** Less of a token's life is of no use to anybody. */
const LAST_SECONDS_MS = 5_000;

/** Refreshes alone for the family: nobody else reads, sends or writes until the successor is kept. */
export async function refreshFamily(task: Task): Promise<Obtained> {
  let record = fromKept(task.held.kept, 'family') ?? firstOf(task);
  for (let round = 1; ; round++) {
    refuseForeign(record, task.profile, task.store);
    const found = findShared(task, record) ?? usedUp(task, record);
    if (found !== undefined) return found;
    refuseRemembered(task, record);
    const current = await waitOutForeign(task, record);
    if (current !== record) {
      record = current;
      continue;
    }
    const attempt = new Attempt(task, record);
    try {
      return await attempt.send();
    } catch (error) {
      const newer = round < MAX_ROUNDS && isStale(error) ? await rotatedElsewhere(task, record) : undefined;
      if (newer === undefined) {
        await attempt.keepFailure(error);
        throw error;
      }
      record = newer;
    }
  }
}

/** The family of a refresh token that was never seen before; that of a login was, and who finds it gone came after a logout. */
function firstOf({ profile, store }: Task): FamilyRecord {
  if (profile.family !== undefined) {
    throw new OAuthProfileError('login_required', `${profile.name} was signed out, or signed in anew, meanwhile`, {
      hint: `try again, or run: ${loginCommand(profile.name)}`,
    });
  }
  const token = getRefreshToken(profile) ?? '';
  return createFamily(profile, typeof token === 'string' ? new Secret(token) : token, store);
}

/** A lost reply may have left a dead token, whose use could revoke the access tokens too: what is left of these comes first. */
function usedUp({ profile, key, wish, store }: Task, record: FamilyRecord): Obtained | undefined {
  const { refreshTokenReuse, graceMs } = profile.options;
  const { attempt } = record;
  if (attempt === undefined || wish.anew) return undefined;
  const risky =
    refreshTokenReuse === 'revokes_family' || (refreshTokenReuse === 'grace' && store.now() - attempt.sentAt > graceMs);
  const end = record.tokens[key] && endOf(record.tokens[key], profile);
  if (!risky || end === undefined || end - store.now() <= LAST_SECONDS_MS) return undefined;
  return accepted(wish, revive(profile, record, key, store.now()));
}

function refuseRemembered({ wish, key, store }: Task, { refusal }: FamilyRecord): void {
  if (refusal === undefined || wish.forgetRefusal) return;
  if (refusal.key === key && store.now() < refusal.until) throw fromKeptError(refusal.error);
}

/** Where a second use revokes everything, an attempt that may still be under way is waited for; its writer does not need the lock. */
async function waitOutForeign({ profile, ports, store, held }: Task, record: FamilyRecord): Promise<FamilyRecord> {
  const waitMs = record.attempt === undefined ? 0 : record.attempt.until - store.now();
  if (profile.options.refreshTokenReuse !== 'revokes_family' || waitMs <= 0) return record;
  ports.log(`another request with this refresh token may be under way: waiting ${Math.ceil(waitMs / 1000)} s`);
  await ports.clock.sleep(waitMs, undefined);
  return fromKept(await held.readAgain(), 'family') ?? record;
}

/** Another machine may have rotated: the family as it is now, if its newest refresh token is another. */
async function rotatedElsewhere({ ports, store, held }: Task, record: FamilyRecord): Promise<FamilyRecord | undefined> {
  const waitMs = record.attempt === undefined ? 0 : record.attempt.until - store.now();
  if (waitMs > 0) await ports.clock.sleep(waitMs, undefined);
  const now = fromKept(await held.readAgain(), 'family');
  return now !== undefined && now.members.at(-1) !== record.members.at(-1) ? now : undefined;
}

/** The refresh token is not the newest any more, as the provider says or as the store does. */
function isStale(error: unknown): boolean {
  return error instanceof Overtaken || (error instanceof ProviderError && error.provider.error === 'invalid_grant');
}

/** Somebody else's refresh token stands in the store. */
class Overtaken extends OAuthProfileError {
  constructor() {
    super('store_locked', 'another process changed the refresh token at the same time', { hint: 'try again' });
  }
}

/** One exchange, from the journal to the write of its outcome. */
class Attempt {
  readonly #task: Task;
  readonly #startedAt: number;
  /** What was lost before, if anything was. */
  readonly #former: FamilyRecord['attempt'];
  #record: FamilyRecord;
  #reply: HttpResponse | undefined;
  /** The provider may have acted on an attempt before the last one. */
  #lost = false;

  constructor(task: Task, record: FamilyRecord) {
    this.#task = task;
    this.#record = record;
    this.#former = record.attempt;
    this.#startedAt = task.store.now();
  }

  async send(): Promise<Obtained> {
    const { profile, ports, store, key } = this.#task;
    const request = withRefreshToken(profile, this.#record.refreshToken);
    const reply = await acquireToken(request, ports, undefined, {
      beforeSend: (timeoutMs) => this.#journal(timeoutMs),
      afterReply: (received) => {
        this.#reply = received;
      },
      afterLoss: () => {
        this.#lost = true;
      },
    });
    const token = keepToken(reply, this.#startedAt, store, ports.clock);
    const others = profile.provider.refreshRevokesAccessTokens ? [] : this.#livingTokens();
    const { scope } = reply.response;
    const written = await this.#write({
      ...this.#withSuccessor(reply.refreshToken),
      profile: profile.name,
      tokens: Object.fromEntries([...others, [key, token]]),
      scope: typeof scope === 'string' ? scope : this.#record.scope,
      attempt: undefined,
      failure: undefined,
      refusal: undefined,
    });
    if (!written) ports.log('another process changed the refresh token at the same time; its own is kept');
    return { reply, reused: false };
  }

  /** Lets those who queued share the failure, and remembers a refusal that no repeat would change. */
  async keepFailure(error: unknown): Promise<void> {
    const { profile, store, key, ports } = this.#task;
    if (error instanceof Overtaken) return;
    const kept = toKeptError(error);
    // A reply that is of no use otherwise may hold the only living successor, even where what explains it cannot be loaded any more.
    const successor = this.#reply && findRefreshToken(this.#reply, profile.options.tokenPath);
    if (kept === undefined && successor === undefined) return;
    const refusal = kept && isForGood(error) ? { key, until: store.now() + REFUSAL_MS, error: kept } : undefined;
    try {
      await this.#write({
        ...this.#withSuccessor(successor),
        attempt: this.#unsettled(error),
        failure: kept && { startedAt: this.#startedAt, key, error: kept },
        refusal: refusal ?? this.#record.refusal,
      });
    } catch (failure) {
      if (!(failure instanceof OAuthProfileError)) throw failure;
      if (successor !== undefined) throw failure;
      ports.log(`the failure is not kept: ${failure.message}`);
    }
  }

  /** What is still not known of the token: only an answer settles that, and neither "out of order" nor "too many requests" is one. */
  #unsettled(error: unknown): FamilyRecord['attempt'] {
    const failure = failureOf(error);
    const { attempt } = this.#record;
    if (error instanceof TransportError) return this.#lost || error.sent ? attempt : this.#former;
    if (failure === undefined) return undefined;
    // Who was answered waits for nothing any more, and nobody need wait for it.
    return this.#lost || failure === 'lost' ? attempt && { ...attempt, until: this.#task.store.now() } : this.#former;
  }

  /** Whoever comes after us must know that this token was sent, and until when its outcome may still arrive. */
  async #journal(timeoutMs: number): Promise<void> {
    const now = this.#task.store.now();
    // The grace of a token whose reply was lost counts from its first send, whoever sent it.
    const sentAt = this.#record.attempt?.sentAt ?? now;
    const next = { ...this.#record, attempt: { sentAt, until: now + timeoutMs } };
    if (!(await this.#write(next, true))) throw new Overtaken();
  }

  async #write(next: FamilyRecord, reserve = false): Promise<boolean> {
    const written = await this.#task.held.write(toKept(next, next.members.at(-1) ?? ''), { reserve });
    if (written) this.#record = next;
    return written;
  }

  #withSuccessor(token: Secret | undefined): FamilyRecord {
    if (token === undefined) return this.#record;
    const member = this.#task.store.fingerprint(token);
    const { members } = this.#record;
    if (members.at(-1) === member) return this.#record;
    return { ...this.#record, refreshToken: token, members: [...members, member].slice(-MAX_MEMBERS) };
  }

  #livingTokens(): [string, FamilyRecord['tokens'][string]][] {
    const { profile, store } = this.#task;
    const now = store.now();
    return Object.entries(this.#record.tokens)
      .filter(([, token]) => (endOf(token, profile) ?? 0) > now)
      .sort(([, one], [, other]) => one.obtainedAt - other.obtainedAt)
      .slice(1 - MAX_TOKENS);
  }
}

/** Only a plain `invalid_grant`: what MFA, consent or a policy causes can be cured at the provider. */
function isForGood(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false;
  const { status, error: code, suberror, claims } = error.provider;
  return status === 400 && code === 'invalid_grant' && suberror === undefined && claims === undefined;
}
