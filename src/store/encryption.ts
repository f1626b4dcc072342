import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { Kept } from '../ports.ts';
import { Secret } from '../redaction/secret.ts';
import { unreadable } from './store-errors.ts';

/** A key of a store; what it is used for is derived from it, so that no two uses share key material. */
export interface Key {
  /** Tells keys apart, and says nothing about the key. */
  readonly id: string;
  readonly sealing: Buffer;
  readonly naming: Buffer;
}

/** The first key seals, all of them open. */
export type KeyRing = readonly [Key, ...Key[]];

/** A record as it is sealed. */
export interface SealedRecord {
  readonly name: string;
  /** Grows with each write: where a change of keys was cut short, two copies exist, and the larger number is the record. */
  readonly turn: number;
  readonly kept: Kept;
}

const MAGIC = 'OAPR';
const VERSION = 1;
const KEY_BYTES = 32;
const ID_BYTES = 8;
const RECORD_ID_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
// Magic, version, key id and record id stand in clear, and are the additional data of the seal.
const KEY_ID_AT = MAGIC.length + 1;
const RECORD_ID_AT = KEY_ID_AT + ID_BYTES;
const HEADER_BYTES = RECORD_ID_AT + RECORD_ID_BYTES;
const BODY_AT = HEADER_BYTES + NONCE_BYTES;

/** Derives what is needed from 32 bytes. */
function makeKey(bytes: Uint8Array): Key {
  const derive = (use: string) => createHmac('sha256', bytes).update(`oauth-profile ${use} ${VERSION}`).digest();
  return { id: derive('key id').toString('hex', 0, ID_BYTES), sealing: derive('seal'), naming: derive('name') };
}

/** Reads base64 of 32 bytes, several separated by commas; `where` names the place in errors. */
export function readKeys(text: Secret, where: string): KeyRing {
  const keys = new Map<string, Key>();
  const items = text.reveal().split(',');
  for (const item of items) {
    const base64 = item.trim();
    // Sinks know the whole text, where it came from outside; of several keys each is a secret of its own.
    if (items.length > 1) new Secret(base64);
    // Exactly what 32 bytes become; a shorter or longer text is another key than the one that was meant.
    if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(base64)) {
      throw unreadable(
        `${where} is not base64 of ${KEY_BYTES} bytes`,
        'make a key with: openssl rand -base64 32; several are separated by commas',
      );
    }
    const key = makeKey(Buffer.from(base64, 'base64'));
    keys.set(key.id, key);
  }
  return [...keys.values()] as unknown as KeyRing;
}

/** A new key and the text that {@link readKeys} reads it from. */
export function inventKey(): { readonly key: Key; readonly text: Secret } {
  const bytes = randomBytes(KEY_BYTES);
  return { key: makeKey(bytes), text: Secret.untracked(bytes.toString('base64')) };
}

/** A key as it stands in a key file. */
export function keyLine(text: Secret): Buffer {
  return Buffer.from(`${text.reveal()}\n`);
}

/** What a record is called where others can see it. */
export function recordId(key: Key, name: string): string {
  return createHmac('sha256', key.naming).update(name).digest().toString('hex', 0, RECORD_ID_BYTES);
}

/** Seals a record; the result opens only under its own name. */
export function seal({ name, turn, kept }: SealedRecord, key: Key): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(MAGIC, 'latin1');
  header[MAGIC.length] = VERSION;
  header.write(key.id, KEY_ID_AT, 'hex');
  header.write(recordId(key, name), RECORD_ID_AT, 'hex');
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key.sealing, nonce).setAAD(header);
  const text = JSON.stringify({ name, turn, head: kept.head, content: kept.content.reveal() });
  return Buffer.concat([header, nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** Opens what {@link seal} made; `id` is what it is called, `where` names it in errors. */
export function unseal(sealed: Buffer, id: string, ring: KeyRing, where: string): SealedRecord {
  if (sealed.length < BODY_AT + TAG_BYTES || sealed.toString('latin1', 0, MAGIC.length) !== MAGIC) {
    throw damaged(where);
  }
  if ((sealed[MAGIC.length] as number) > VERSION) {
    throw unreadable(`${where} was written by a newer version of oauth-profile`, 'update oauth-profile');
  }
  const keyId = sealed.toString('hex', KEY_ID_AT, RECORD_ID_AT);
  const key = ring.find((one) => one.id === keyId);
  if (key === undefined) {
    throw unreadable(
      `${where} is sealed with another key (${keyId})`,
      'set OAUTH_PROFILE_KEY to the key that it was sealed with; while keys change, put the old one after a comma',
    );
  }
  if (sealed.toString('hex', RECORD_ID_AT, HEADER_BYTES) !== id) {
    throw unreadable(`${where} holds the record of another name: it was copied or renamed`, REMOVE);
  }
  const decipher = createDecipheriv('aes-256-gcm', key.sealing, sealed.subarray(HEADER_BYTES, BODY_AT));
  decipher.setAAD(sealed.subarray(0, HEADER_BYTES)).setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    const text = decipher.update(sealed.subarray(BODY_AT, -TAG_BYTES));
    // It adds nothing, but refuses what was changed.
    decipher.final();
    const { name, turn, head, content } = JSON.parse(text.toString());
    return { name, turn, kept: { head, content: Secret.untracked(content) } };
  } catch (error) {
    throw damaged(where, error);
  }
}

const REMOVE = 'remove it and sign in again; nothing overwrites it meanwhile';

function damaged(where: string, cause?: unknown): Error {
  return unreadable(`${where} is damaged`, REMOVE, cause);
}
