import { MASK, Secret } from '../redaction/secret.ts';
import { isSensitiveName } from '../redaction/sensitive-names.ts';

/** Deeper responses are rejected: printing or copying them could overflow the stack. */
const MAX_DEPTH = 100;

/** The secrets found in a response. */
export interface SecretMembers {
  readonly secrets: readonly Secret[];
  /** Whether members below the 100th level were not searched. */
  readonly tooDeep: boolean;
}

/**
 * Wraps every string below a member with a sensitive name as a {@link Secret}, which also registers it for redaction.
 * Values in `known` are skipped: they are wrapped already.
 */
export function secretMembers(
  members: Readonly<Record<string, unknown>>,
  known: readonly unknown[],
  isSecret: (name: string) => boolean = isSensitiveName,
): SecretMembers {
  const found = new Map<string, Secret>();
  let tooDeep = false;
  const search = (object: object, inherited: boolean, depth: number): void => {
    if (depth > MAX_DEPTH) {
      tooDeep = true;
      return;
    }
    for (const [name, value] of Object.entries(object)) {
      const secret = inherited || isSecret(name);
      if (typeof value === 'object' && value !== null) search(value, secret, depth + 1);
      else if (typeof value === 'string' && secret && !known.includes(value) && !found.has(value))
        found.set(value, new Secret(value));
    }
  };
  search(members, false, 0);
  return { secrets: [...found.values()], tooDeep };
}

/** Whether a member of an error response is sensitive by its name. There `code` is an error code. */
export function isSecretOfErrorResponse(name: string): boolean {
  return name !== 'code' && isSensitiveName(name);
}

/** The names of a response's members for a message. A name that does not look like one may be a token and is masked. */
export function memberNames(members: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(members).map((name) => (isPlausibleName(name) ? name : MASK));
}

/** At most five words and two digits: `access_token`, `expiresIn`, `x-oauth2-scopes`. */
function isPlausibleName(text: string): boolean {
  if (!/^[A-Za-z_][\w.-]{0,39}$/.test(text) || text.replace(/\D/g, '').length > 2) return false;
  return text.split(/[_.-]+|(?<=[a-z\d])(?=[A-Z])|(?<=\d)(?=[a-z])/).length <= 5;
}
