import { isCollection, mapCollection, type Value } from '../../config/value.ts';
import { Secret } from '../../redaction/secret.ts';

/** Members of API data that are secrets because of their name. */
const secretMembers = new Set(['access_token', 'refresh_token', 'id_token', 'client_secret', 'password']);
/** Output is not searched for shorter values. */
const MIN_LENGTH = 8;
/** A signed or encrypted JWT: three to five parts, of which the first starts with `{"`. */
const JWT = /\beyJ[\w-]{6,}(?:\.[\w-]*){2,4}/g;

/** Returns whether a member of API data is a secret because of its name. */
export function isSecretMember(name: string, value: Value): boolean {
  return secretMembers.has(name) && typeof value === 'string' && value.length >= MIN_LENGTH;
}

/** Finds the secrets in the data of an API. */
export interface ApiSecrets {
  /** Wraps the secrets in a value at a path such as `body`, and masks them in all output of the script. */
  wrap(value: Value, path: string): Value;
  /** Masks a value in all output of the script. */
  add(value: string): void;
}

/** Creates the search for secrets in API data. `unmask` are paths such as `body.password`; `addSecret` masks a value in the output of the script. */
export function createApiSecrets(unmask: readonly string[], addSecret: (secret: Secret) => void): ApiSecrets {
  const unmasked = unmask.map(withoutIndexes);
  const isUnmasked = (path: string): boolean => unmasked.some((one) => path === one || path.startsWith(`${one}.`));
  const toSecret = (text: string): Secret => {
    const secret = Secret.untracked(text);
    addSecret(secret);
    return secret;
  };
  const wrap = (value: Value, path: string, name: string): Value => {
    if (isCollection(value))
      return mapCollection(value, (part, key) => wrap(part, key === undefined ? path : `${path}.${key}`, key ?? name));
    if (typeof value !== 'string' || value.length < MIN_LENGTH || isUnmasked(path)) return value;
    if (isSecretMember(name, value)) return toSecret(value);
    if (!value.includes('eyJ')) return value;
    for (const [jwt] of value.matchAll(JWT)) toSecret(jwt);
    return value.replace(JWT, '') === '' ? toSecret(value) : value;
  };
  return { wrap: (value, path) => wrap(value, withoutIndexes(path), ''), add: (value) => void toSecret(value) };
}

/** The items of a list have the path of the list. */
function withoutIndexes(path: string): string {
  return path.replace(/\[[^\]]*\]/g, '');
}
