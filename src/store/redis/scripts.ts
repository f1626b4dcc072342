import { createHash } from 'node:crypto';
import type { RedisLink } from './redis-link.ts';
import type { Reply } from './redis-protocol.ts';

// A stored value begins with a stamp: 32 characters that mark its head, and 32 that no other write has. The sealed record follows.
export const MARK_LENGTH = 32;
export const STAMP_LENGTH = 64;

/** A script that Redis runs as one step; it is sent once, and named afterwards. */
class Script {
  readonly #text: string;
  #digest: string | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  async run(redis: RedisLink, keys: readonly string[], args: readonly (string | number | Buffer)[]): Promise<Reply> {
    // Most processes run one of them, or none.
    this.#digest ??= createHash('sha1').update(this.#text).digest('hex');
    try {
      return await redis.ask('EVALSHA', this.#digest, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
      return redis.ask('EVAL', this.#text, keys.length, ...keys, ...args);
    }
  }
}

// All of them may come twice: the answer to the first may have been lost. KEYS are the locks and then the records of one name, as many of each
// as there are keys in the ring; where a script begins with them, KEYS[1] is the set of the ids of all keys that records are sealed with.

/**
 * Takes all locks, or none. ARGV: nonce, lease, what was last seen (`any`: nothing matters; `look`: nothing yet; else a stamp), ids of known keys.
 * Answers {0} somebody else has them; {1, …} taken; {2, …} not taken, since the record changed and its new content may do; {3, id} something is
 * sealed with an unknown key. The second and third place are Redis' time, behind them come the records.
 */
export const TAKE = new Script(`
local count = (#KEYS - 1) / 2
local time = redis.call('TIME')
local function answer(state, with_records)
  local reply = {state, time[1], time[2]}
  for i = 2 + count, with_records and #KEYS or 0 do reply[#reply + 1] = redis.call('GET', KEYS[i]) or '' end
  return reply
end
for _, id in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  local known = false
  for i = 4, #ARGV do known = known or ARGV[i] == id end
  if not known then return {3, time[1], time[2], id} end
end
local free, stamp = true, ''
for i = 2, 1 + count do
  local holder = redis.call('GET', KEYS[i])
  if holder and holder ~= ARGV[1] then free = false end
  if stamp == '' then stamp = redis.call('GETRANGE', KEYS[i + count], 0, ${STAMP_LENGTH - 1}) end
end
local same = ARGV[3] == stamp or ARGV[3] == 'any'
if not free and same then return answer(0, false) end
if not free or not (same or ARGV[3] == 'look') then return answer(2, true) end
for i = 2, 1 + count do redis.call('SET', KEYS[i], ARGV[1], 'PX', ARGV[2]) end
return answer(1, true)`);

/** Lengthens the lease that is still ours. KEYS: locks. ARGV: nonce, lease. */
export const RENEW = new Script(`
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then redis.call('PEXPIRE', key, ARGV[2]) end
end
return 1`);

/** Lets go of what is still ours. KEYS: locks. ARGV: nonce. */
export const RELEASE = new Script(`
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then redis.call('DEL', key) end
end
return 1`);

/**
 * Writes exactly when the head is still the one that the writer saw. ARGV: nonce, lease, mark of the head that was seen (empty for none), value, id
 * of its key, `held` where the lease must be ours too. Answers 1 written, 0 overtaken. What stands under the names of other keys goes.
 */
export const WRITE = new Script(`
local count = (#KEYS - 1) / 2
local held, stamp = true, ''
for i = 2, 1 + count do
  if redis.call('GET', KEYS[i]) ~= ARGV[1] then held = false end
  if stamp == '' then stamp = redis.call('GETRANGE', KEYS[i + count], 0, ${STAMP_LENGTH - 1}) end
end
if ARGV[6] == 'held' and not held then return 0 end
if stamp ~= string.sub(ARGV[4], 1, ${STAMP_LENGTH}) then
  if string.sub(stamp, 1, ${MARK_LENGTH}) ~= ARGV[3] then return 0 end
  -- Where memory is full, Redis refuses the first command that writes, and none behind it: a successor gets past.
  if ARGV[6] ~= 'held' then redis.call('SREM', KEYS[1], '') end
  redis.call('SET', KEYS[2 + count], ARGV[4])
  redis.call('SADD', KEYS[1], ARGV[5])
  for i = 3 + count, #KEYS do redis.call('DEL', KEYS[i]) end
end
if held then
  for i = 2, 1 + count do redis.call('PEXPIRE', KEYS[i], ARGV[2]) end
end
return 1`);

/** Takes the record away if the lease is ours. KEYS: locks, records. ARGV: nonce. Answers 1 removed, 0 not ours. */
export const REMOVE = new Script(`
local count = #KEYS / 2
for i = 1, count do
  if redis.call('GET', KEYS[i]) ~= ARGV[1] then return 0 end
end
for i = 1 + count, #KEYS do redis.call('DEL', KEYS[i]) end
return 1`);
