// Layout. All keys have the hash tag {store}: in a cluster they are in one slot, so that each script is atomic there too. The load of a token
// store is far below the capacity of one node.
//   oauth-profile:{store}:keys            set of the ids of all encryption keys in use
//   oauth-profile:{store}:records:KEY_ID  hash of all records that are encrypted with one key: record id → stamp and ciphertext
//   oauth-profile:{store}:aliases:KEY_ID  hash: record id of an alias → record id
//   oauth-profile:{store}:lock:RECORD_ID  nonce of the lock owner; expires with the lease
const PREFIX = 'oauth-profile:{store}';

/** Set of the ids of all encryption keys in use. */
export const KEY_IDS = `${PREFIX}:keys`;
/** Hash of the records that are encrypted with a key. */
export const recordsKey = (keyId: string): string => `${PREFIX}:records:${keyId}`;
/** Hash of the aliases of these records. */
export const aliasesKey = (keyId: string): string => `${PREFIX}:aliases:${keyId}`;
/** Lock of a record. */
export const lockKey = (id: string): string => `${PREFIX}:lock:${id}`;

// A stored value starts with a stamp: 32 characters that identify the version of the record, and 32 that are unique for each write.
/** Length of the part of a stamp that identifies the version. */
export const VERSION_LENGTH = 32;
/** Length of a stamp. */
export const STAMP_LENGTH = 64;

// All scripts may run twice: a response may be lost after Redis ran the script.

/** A Lua script and the pattern of its response, in which `b` is a string and a digit is an integer. */
export interface Script {
  readonly source: string;
  readonly response: RegExp;
}

// Start of the scripts on one record, which has one id for each encryption key. KEYS: set of key ids, the locks, the hashes of records, those of
// aliases. ARGV: the record ids, then the arguments of the script, of which the first is the nonce of the lock owner.
const ON_RECORD = `
local count = (#KEYS - 1) / 3
local nonce = ARGV[count + 1]
local function argument(i) return ARGV[count + 1 + i] end
local function key_id(i) return string.match(KEYS[1 + count + i], '[^:]+$') end
local values, stamp, owned, free = {}, '', true, true
for i = 1, count do
  values[i] = redis.call('HGET', KEYS[1 + count + i], ARGV[i]) or ''
  if stamp == '' then stamp = string.sub(values[i], 1, ${STAMP_LENGTH}) end
  local owner = redis.call('GET', KEYS[1 + i])
  owned = owned and owner == nonce
  free = free and (not owner or owner == nonce)
end
local function remove_aliases(i, json)
  for _, id in ipairs(cjson.decode(json)[i]) do redis.call('HDEL', KEYS[1 + 2 * count + i], id) end
end
local function remove(i)
  redis.call('HDEL', KEYS[1 + count + i], ARGV[i])
  if redis.call('EXISTS', KEYS[1 + count + i]) == 0 then redis.call('SREM', KEYS[1], key_id(i)) end
end`;

/**
 * Finds a record by its key or an alias. KEYS: for each encryption key, the hash of records and that of aliases. ARGV: the id under each key.
 * Returns for each key the record id and the value, empty where there is none.
 */
export const READ: Script = {
  response: /^(bb)+$/,
  source: `
local found = {}
for i, id in ipairs(ARGV) do
  local value = redis.call('HGET', KEYS[2 * i - 1], id)
  if not value then
    id = redis.call('HGET', KEYS[2 * i], id) or ''
    value = redis.call('HGET', KEYS[2 * i - 1], id)
  end
  found[2 * i - 1], found[2 * i] = id, value or ''
end
return found`,
};

/**
 * Acquires the locks of all names, or none. Arguments: lease in ms, stamp that the caller knows (`new`: it knows none yet, and takes a free lock
 * at once). Returns {seconds, microseconds, state, …}, where the time is that of Redis and the state is 0: another owner has a lock and the
 * record did not change; 1, followed by the values: acquired; 2, followed by the values: not acquired because the record changed; 3, followed by
 * a key id: not acquired because records are encrypted with a key that the caller does not have.
 */
export const ACQUIRE: Script = {
  response: /^bb(0|[12]b+|3b)$/,
  source: `${ON_RECORD}
local time = redis.call('TIME')
local known = {}
for i = 1, count do known[key_id(i)] = true end
for _, id in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  if not known[id] then return {time[1], time[2], 3, id} end
end
local seen = argument(2)
local state = 1
if seen ~= stamp and not (seen == 'new' and free) then state = 2
elseif not free then return {time[1], time[2], 0}
else
  for i = 1, count do redis.call('SET', KEYS[1 + i], nonce, 'PX', argument(1)) end
end
return {time[1], time[2], state, unpack(values)}`,
};

/**
 * Writes the record unless another version than the one that the caller read is stored, whether the caller still has the lock or not: it may have the
 * only valid successor. Arguments: lease in ms, version that was read (empty for none), value, `locked` if the lock is required too, JSON arrays
 * of the aliases under each key, and of the aliases that the record had before. Returns 1 if the record was written, else 0. The record is
 * removed from its other names.
 */
export const WRITE: Script = {
  response: /^[01]$/,
  source: `${ON_RECORD}
local value = argument(3)
local locked = argument(4) == 'locked'
if locked and not owned then return 0 end
if stamp ~= string.sub(value, 1, ${STAMP_LENGTH}) then
  -- A record that vanished (FLUSHALL, eviction) is not a newer version.
  if stamp ~= '' and string.sub(stamp, 1, ${VERSION_LENGTH}) ~= argument(2) then return 0 end
  -- When maxmemory is reached, Redis rejects the first command of a script if it needs memory, but none after a write: a successor is written.
  if not locked then redis.call('SREM', KEYS[1], '') end
  redis.call('HSET', KEYS[2 + count], ARGV[1], value)
  redis.call('SADD', KEYS[1], key_id(1))
  for i = 1, count do remove_aliases(i, argument(6)) end
  for _, id in ipairs(cjson.decode(argument(5))[1]) do redis.call('HSET', KEYS[2 + 2 * count], id, ARGV[1]) end
  for i = 2, count do
    remove_aliases(i, argument(5))
    remove(i)
  end
end
if owned then
  for i = 1, count do redis.call('PEXPIRE', KEYS[1 + i], argument(1)) end
end
return 1`,
};

/** Removes the record. Argument: its aliases, as above. Returns 1, or 0 if the caller does not have the lock any more. */
export const REMOVE: Script = {
  response: /^[01]$/,
  source: `${ON_RECORD}
if not owned then return 0 end
for i = 1, count do
  remove_aliases(i, argument(1))
  remove(i)
end
return 1`,
};

/** Renews the locks that the caller still has, or releases them. KEYS: locks. ARGV: nonce, lease in ms (0 to release). */
export const RENEW_OR_RELEASE: Script = {
  response: /^1$/,
  source: `
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then redis.call('PEXPIRE', key, ARGV[2]) end
end
return 1`,
};

/** Returns the time of Redis and the ids of all encryption keys in use: {seconds, microseconds, id …}. KEYS: set of key ids. */
export const OPEN: Script = {
  response: /^bbb*$/,
  source: `
local time = redis.call('TIME')
return {time[1], time[2], unpack(redis.call('SMEMBERS', KEYS[1]))}`,
};
