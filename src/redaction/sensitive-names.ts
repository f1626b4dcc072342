import { MASK } from './secret.ts';

// Texts, since every process looks at some names: to compile patterns takes longer than to read a profile.
const secretNames = ['code', 'device_code'];
const secretParts = ['secret', 'passw', 'token', 'assertion', 'credential', 'private'];
const harmlessNames = ['token_type', 'token_path', 'refresh_token_reuse'];
const harmlessEnds = ['_token_type', '_url'];

/** The same few names come again with every request; what does not is not worth keeping. */
const known = new Map<string, boolean>();
const MAX_KNOWN = 500;

/** Whether a variable, form field or response member of this name holds a secret; of a dotted name the last part decides. */
export function isSensitiveName(name: string): boolean {
  let secret = known.get(name);
  if (secret === undefined) {
    secret = judge(name.slice(name.lastIndexOf('.') + 1));
    if (known.size < MAX_KNOWN && name.length < 100) known.set(name, secret);
  }
  return secret;
}

function judge(field: string): boolean {
  const name = field.toLowerCase();
  if (secretNames.includes(field)) return true;
  if (harmlessNames.includes(name) || harmlessEnds.some((end) => name.endsWith(end))) return false;
  return secretParts.some((part) => name.includes(part)) || (name.includes('key') && /api.?key/.test(name));
}

/** A dotted name for a message: below a secret's name stands the secret itself, misread (`client_secret: {S3cr3t}`); `profile` is no such name. */
export function displayName(name: string, profile = name.split('.', 1).join()): string {
  const parts = name.slice(profile.length + 1).split('.');
  const secret = parts.findIndex(isSensitiveName);
  if (secret < 0 || secret === parts.length - 1) return name;
  return [profile, ...parts.slice(0, secret + 1), MASK].join('.');
}
