// Layout. All keys have the hash tag {store}: in a cluster they are in one slot, so that each script is atomic there too. The load of a token
// store is far below the capacity of one node.
//   oauth-profile:{store}:keys            set of the ids of all encryption keys in use
//   oauth-profile:{store}:records:KEY_ID  hash of all records that are encrypted with one key: record id → stamp and ciphertext
//   oauth-profile:{store}:lock:RECORD_ID  nonce of the lock owner; expires with the lease
const PREFIX = 'oauth-profile:{store}';

/** Set of the ids of all encryption keys in use. */
export const KEY_IDS = `${PREFIX}:keys`;
/** Hash of the records that are encrypted with a key. */
export const recordsKey = (keyId: string): string => `${PREFIX}:records:${keyId}`;
/** Lock of a record. */
export const lockKey = (id: string): string => `${PREFIX}:lock:${id}`;

// A stored value starts with a stamp: 32 characters that identify the version of the record, and 32 that are unique for each write.
/** Length of the part of a stamp that identifies the version. */
export const VERSION_LENGTH = 32;
/** Length of a stamp. */
export const STAMP_LENGTH = 64;

// All scripts may run twice: a response may be lost after Redis ran the script.

// Functions for the scripts on one record, which has one id for each encryption key. KEYS: set of key ids, the locks, the hashes. ARGV: the
// record ids, then the arguments of the script.
const ON_RECORD = `
local count = (#KEYS - 1) / 2
local function argument(i) return ARGV[count + i] end
local function stored(i) return redis.call('HGET', KEYS[1 + count + i], ARGV[i]) or '' end
local function stamp()
  for i = 1, count do
    local value = stored(i)
    if value ~= '' then return string.sub(value, 1, ${STAMP_LENGTH}) end
  end
  return ''
end
local function owns_locks()
  for i = 1, count do
    if redis.call('GET', KEYS[1 + i]) ~= argument(1) then return false end
  end
  return true
end`;

/** Returns the values under all names, empty where there is none. */
export const READ = `${ON_RECORD}
local values = {}
for i = 1, count do values[i] = stored(i) end
return values`;

/**
 * Acquires the locks of all names, or none. Arguments: nonce, lease in ms, stamp that the caller knows (`any`: changes do not matter; `new`: it
 * knows none yet), ids of the encryption keys that the caller has. Returns {seconds, microseconds, state, …}, where the time is that of Redis and
 * the state is 0: another owner has a lock and the record did not change; 1, followed by the values: acquired; 2, followed by the values: not
 * acquired because the record changed; 3, followed by a key id: not acquired because records are encrypted with a key that the caller does not have.
 */
export const ACQUIRE = `${ON_RECORD}
local time = redis.call('TIME')
local response = {time[1], time[2], 0}
local function respond(state)
  response[3] = state
  for i = 1, count do response[3 + i] = stored(i) end
  return response
end
for _, id in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  local known = false
  for i = 4, #ARGV - count do known = known or argument(i) == id end
  if not known then return {time[1], time[2], 3, id} end
end
local free = true
for i = 1, count do
  local owner = redis.call('GET', KEYS[1 + i])
  if owner and owner ~= argument(1) then free = false end
end
local seen = argument(3)
local changed = seen ~= 'any' and seen ~= 'new' and seen ~= stamp()
if not free and not changed and seen ~= 'new' then return response end
if not free or changed then return respond(2) end
for i = 1, count do redis.call('SET', KEYS[1 + i], argument(1), 'PX', argument(2)) end
return respond(1)`;

/**
 * Writes the record if its stored version is still the one that the caller read, whether the caller still has the lock or not: it may have the
 * only valid successor. Arguments: nonce, lease in ms, version that was read (empty for none), value, id of its key, `locked` if the lock is
 * required too. Returns 1 if the record was written, else 0. The record is removed from its other names.
 */
export const WRITE = `${ON_RECORD}
local owner = owns_locks()
if argument(6) == 'locked' and not owner then return 0 end
local current = stamp()
if current ~= string.sub(argument(4), 1, ${STAMP_LENGTH}) then
  if string.sub(current, 1, ${VERSION_LENGTH}) ~= argument(3) then return 0 end
  -- When maxmemory is reached, Redis rejects the first command of a script if it needs memory, but none after a write: a successor is written.
  if argument(6) ~= 'locked' then redis.call('SREM', KEYS[1], '') end
  redis.call('HSET', KEYS[2 + count], ARGV[1], argument(4))
  redis.call('SADD', KEYS[1], argument(5))
  for i = 2, count do redis.call('HDEL', KEYS[1 + count + i], ARGV[i]) end
end
if owner then
  for i = 1, count do redis.call('PEXPIRE', KEYS[1 + i], argument(2)) end
end
return 1`;

/** Removes the record. Arguments: nonce. Returns 1, or 0 if the caller does not have the lock any more. */
export const REMOVE = `${ON_RECORD}
if not owns_locks() then return 0 end
for i = 1, count do redis.call('HDEL', KEYS[1 + count + i], ARGV[i]) end
return 1`;

/** Renews the lease of the locks that the caller still has. KEYS: locks. ARGV: nonce, lease in ms. */
export const RENEW = `
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then redis.call('PEXPIRE', key, ARGV[2]) end
end
return 1`;

/** Releases the locks that the caller still has. KEYS: locks. ARGV: nonce. */
export const RELEASE = `
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then redis.call('DEL', key) end
end
return 1`;

/** Returns the time of Redis and the ids of all encryption keys in use: {seconds, microseconds, id …}. KEYS: set of key ids. */
export const OPEN = `
local time = redis.call('TIME')
return {time[1], time[2], unpack(redis.call('SMEMBERS', KEYS[1]))}`;

/** Removes the id of an encryption key that no record uses any more. KEYS: set of key ids, records. ARGV: id. Returns 1 if it is unused. */
export const FORGET_KEY = `
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
redis.call('SREM', KEYS[1], ARGV[1])
return 1`;
