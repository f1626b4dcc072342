import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { FoundRecord } from '../ports.ts';
import { Secret } from '../redaction/secret.ts';
import { newerVersionError, storeUnreadableError } from './store-errors.ts';

/** A store's key. Each use has its own derived key. */
export interface Key {
  /** Identifies the key without revealing anything about it. */
  readonly id: string;
  readonly encryption: Buffer;
  readonly naming: Buffer;
}

/** The first key encrypts, all keys decrypt. */
export type KeyRing = readonly [Key, ...Key[]];

/** The plaintext of an encrypted record. */
export interface RecordPlaintext extends FoundRecord {
  /** Without the key. */
  readonly aliases: readonly string[];
  /** Incremented by each write. An interrupted change of keys can leave two copies of a record; the higher revision is valid. */
  readonly revision: number;
}

/** Returns the valid copy of a record. */
export function selectNewest(copies: readonly (RecordPlaintext | undefined)[]): RecordPlaintext | undefined {
  return copies.reduce((one, other) => ((other?.revision ?? -1) > (one?.revision ?? -1) ? other : one), undefined);
}

/** Returns the valid copy of each record. */
export function selectNewestOfEach(copies: readonly RecordPlaintext[]): RecordPlaintext[] {
  const newest = new Map<string, RecordPlaintext>();
  for (const copy of copies) newest.set(copy.key, selectNewest([newest.get(copy.key), copy]) ?? copy);
  return [...newest.values()];
}

// Layout: magic "OAPR", format version, key id, record id, nonce, ciphertext, tag. All before the nonce is additional authenticated data.
const FORMAT_VERSION = 1;
const HEADER = /^4f415052(?<version>..)(?<keyId>.{16})(?<id>.{32})$/;
const HEADER_BYTES = 29;
const CIPHERTEXT_OFFSET = HEADER_BYTES + 12;
const TAG_BYTES = 16;

function deriveKey(bytes: Uint8Array): Key {
  const derive = (use: string) => createHmac('sha256', bytes).update(`oauth-profile ${use} ${FORMAT_VERSION}`).digest();
  const id = derive('key id').toString('hex', 0, 8);
  return { id, encryption: derive('encryption'), naming: derive('name') };
}

/** Parses comma-separated keys, each the base64 of 32 bytes. `source` names their origin in errors. */
export function parseKeys(value: Secret, source: string): KeyRing {
  const keys = new Map<string, Key>();
  const items = value.reveal().split(',');
  for (const item of items) {
    const base64 = item.trim();
    // Registers each key for redaction; the caller registered the whole value.
    if (items.length > 1) new Secret(base64);
    // The exact length: Buffer.from ignores invalid characters and would silently derive another key.
    if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(base64)) {
      throw storeUnreadableError(
        `${source} is not the base64 encoding of 32 bytes`,
        'create a key with: openssl rand -base64 32; separate several keys with commas',
      );
    }
    const key = deriveKey(Buffer.from(base64, 'base64'));
    keys.set(key.id, key);
  }
  return [...keys.values()] as unknown as KeyRing;
}

/** Generates a key. {@link parseKeys} accepts its `base64`. */
export function generateKey(): { readonly key: Key; readonly base64: Secret } {
  const bytes = randomBytes(32);
  return { key: deriveKey(bytes), base64: Secret.untracked(bytes.toString('base64')) };
}

/** Content of a key file. */
export function keyFileContent(base64: Secret): Buffer {
  return Buffer.from(`${base64.reveal()}\n`);
}

/** Public name of a record: an HMAC of its key. */
export function recordId(key: Key, recordKey: string): string {
  return createHmac('sha256', key.naming).update(recordKey).digest().toString('hex', 0, 16);
}

/** Encrypts a record with AES-256-GCM, bound to its record id. */
export function encryptRecord(record: RecordPlaintext, key: Key): Buffer {
  const header = Buffer.from(`4f41505201${key.id}${recordId(key, record.key)}`, 'hex');
  const nonce = randomBytes(CIPHERTEXT_OFFSET - HEADER_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key.encryption, nonce).setAAD(header);
  const plaintext = JSON.stringify({ ...record, content: record.content.reveal() });
  return Buffer.concat([header, nonce, cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts a record that is stored as `id`. `location` names it in errors. */
export function decryptRecord(bytes: Buffer, id: string, keys: KeyRing, location: string): RecordPlaintext {
  const header = HEADER.exec(bytes.toString('hex', 0, HEADER_BYTES))?.groups;
  if (header === undefined || bytes.length < CIPHERTEXT_OFFSET + TAG_BYTES) throw damagedError(location);
  if (Number.parseInt(header['version'] ?? '', 16) > FORMAT_VERSION) throw newerVersionError(location);
  const key = keys.find(({ id: keyId }) => keyId === header['keyId']);
  if (key === undefined) {
    throw storeUnreadableError(
      `${location} is encrypted with another key (key ID ${header['keyId']})`,
      'set OAUTH_PROFILE_KEY to the key with that ID; to change keys, append the old key after a comma',
    );
  }
  if (header['id'] !== id) {
    throw storeUnreadableError(`${location} contains another record: it was copied or renamed`, REMOVE_RECORD);
  }
  const decipher = createDecipheriv('aes-256-gcm', key.encryption, bytes.subarray(HEADER_BYTES, CIPHERTEXT_OFFSET));
  decipher.setAAD(bytes.subarray(0, HEADER_BYTES)).setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const plaintext = decipher.update(bytes.subarray(CIPHERTEXT_OFFSET, -TAG_BYTES));
    // Verifies the tag.
    decipher.final();
    const record = JSON.parse(plaintext.toString());
    return { aliases: [], ...record, content: Secret.untracked(record.content) };
  } catch (error) {
    throw damagedError(location, error);
  }
}

const REMOVE_RECORD = 'delete it and log in again; it is not overwritten';

function damagedError(location: string, cause?: unknown): Error {
  return storeUnreadableError(`${location} is damaged`, REMOVE_RECORD, cause);
}
