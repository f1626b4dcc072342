import { MASK } from './secret.ts';

const secretNames = new Set(['code', 'device_code']);
const secretPattern = /secret|passw|token|assertion|credential|api.?key|private/i;
const harmlessPattern = /^(?:.*_)?token_type$|_url$|^token_path$/i;

/** The same few names come again with every request; what does not is not worth keeping. */
const known = new Map<string, boolean>();
const MAX_KNOWN = 500;

/** Whether a variable, form field or response member of this name holds a secret; of a dotted name the last part decides. */
export function isSecretName(name: string): boolean {
  let secret = known.get(name);
  if (secret === undefined) {
    const field = name.slice(name.lastIndexOf('.') + 1);
    secret = secretNames.has(field) || (secretPattern.test(field) && !harmlessPattern.test(field));
    if (known.size < MAX_KNOWN && name.length < 100) known.set(name, secret);
  }
  return secret;
}

/** A dotted name for a message: below a secret's name stands the secret itself, misread (`client_secret: {S3cr3t}`); `profile` is no such name. */
export function shownName(name: string, profile = name.split('.', 1).join()): string {
  const parts = name.slice(profile.length + 1).split('.');
  const secret = parts.findIndex(isSecretName);
  if (secret < 0 || secret === parts.length - 1) return name;
  return [profile, ...parts.slice(0, secret + 1), MASK].join('.');
}
