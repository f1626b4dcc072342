import { MASK, Secret } from '../redaction/secret.ts';
import { isSensitiveName } from '../redaction/sensitive-names.ts';

/** No response is nested deeper; what is would overflow whoever prints or copies it. */
const MAX_DEPTH = 100;

/** The secrets of a reply. */
export interface SecretMembers {
  readonly found: readonly Secret[];
  /** Whether members were left out, because they are nested too deeply. */
  readonly tooDeep: boolean;
}

/** Every text below a secret's name, but for those in `known`; whoever watches secrets hears of them. */
export function secretMembers(
  members: Readonly<Record<string, unknown>>,
  known: readonly unknown[],
  isSecret: (name: string) => boolean = isSensitiveName,
): SecretMembers {
  const found = new Map<string, Secret>();
  let tooDeep = false;
  const search = (part: object, inherited: boolean, depth: number): void => {
    if (depth > MAX_DEPTH) {
      tooDeep = true;
      return;
    }
    for (const [name, value] of Object.entries(part)) {
      const secret = inherited || isSecret(name);
      if (typeof value === 'object' && value !== null) search(value, secret, depth + 1);
      else if (typeof value === 'string' && secret && !known.includes(value) && !found.has(value))
        found.set(value, new Secret(value));
    }
  };
  search(members, false, 0);
  return { found: [...found.values()], tooDeep };
}

/** In a refusal `code` is the provider's word for what is wrong. */
export function isSecretOfErrorResponse(name: string): boolean {
  return name !== 'code' && isSensitiveName(name);
}

/** The names of a reply's members for a person; what does not look like a name may be a token. */
export function memberNames(members: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(members).map((name) => (isName(name) ? name : MASK));
}

/** A few words with their joints and perhaps a number: `access_token`, `expiresIn`, `x-oauth2-scopes`. */
function isName(text: string): boolean {
  if (!/^[A-Za-z_][\w.-]{0,39}$/.test(text) || text.replace(/\D/g, '').length > 2) return false;
  return text.split(/[_.-]+|(?<=[a-z\d])(?=[A-Z])|(?<=\d)(?=[a-z])/).length <= 5;
}
