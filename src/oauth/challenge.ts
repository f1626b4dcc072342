/** One challenge of a `WWW-Authenticate` header. */
export interface Challenge {
  /** In lower case. */
  readonly scheme: string;
  /** Names are in lower case. The first of repeated parameters is used. */
  readonly parameters: ReadonlyMap<string, string>;
}

const TOKEN = "[!#$%&'*+.^_`|~\\w-]+";
const parameterPattern = new RegExp(
  `(${TOKEN})[ \\t]*=[ \\t]*(?:"((?:[^"\\\\]|\\\\.)*)"|(${TOKEN}))[ \\t]*(?=,|$)`,
  'y',
);
/** A scheme is followed by a space and a parameter or credentials (token68), or by nothing. */
const schemePattern = new RegExp(`(${TOKEN})(?:[ \\t]+|(?=,|$))(?:[\\w.~+/-]+=*[ \\t]*(?=,|$))?`, 'y');
const separatorPattern = /[ \t,]+/y;
/** Anything else up to the next comma, such as a malformed parameter. */
const otherPattern = /(?:"(?:[^"\\]|\\.)*"?|[^",])+/y;

/**
 * Parses a `WWW-Authenticate` header with any number of challenges (RFC 9110 §11.6.1), or several headers. A malformed part is skipped up to the next
 * comma.
 */
export function parseChallenges(header: string | readonly string[] | undefined | null): Challenge[] {
  const text = (typeof header === 'string' ? [header] : (header ?? [])).join(', ');
  const challenges: { scheme: string; parameters: Map<string, string> }[] = [];
  let index = 0;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = index;
    const found = pattern.exec(text);
    index += found?.[0].length ?? 0;
    return found;
  };
  while (index < text.length) {
    if (match(separatorPattern)) continue;
    const parameter = match(parameterPattern);
    if (parameter !== null) {
      const [, name = '', quoted, token = ''] = parameter;
      const parameters = challenges.at(-1)?.parameters;
      const key = name.toLowerCase();
      if (parameters?.has(key) === false) parameters.set(key, quoted?.replace(/\\(.)/gs, '$1') ?? token);
      continue;
    }
    const scheme = match(schemePattern)?.[1];
    if (scheme !== undefined) challenges.push({ scheme: scheme.toLowerCase(), parameters: new Map() });
    else if (!match(otherPattern)) index++;
  }
  return challenges;
}

/** Parameters of the authorization request that satisfies an API. */
export interface LoginChallenge {
  /** JSON (OpenID Connect Core §5.5). */
  readonly claims?: string;
  readonly acr_values?: string;
  /** In seconds. */
  readonly max_age?: string;
}

const LOGIN_ERRORS = new Set(['insufficient_claims', 'insufficient_user_authentication']);
/** Longer values are ignored, in characters: they would not fit into the URL of a login page. */
const MAX_LENGTH = 4096;

/**
 * Finds the challenge that only another login satisfies: `insufficient_user_authentication` (RFC 9470 §3), or Microsoft's `insufficient_claims`, whose
 * `claims` are base64
 * (https://learn.microsoft.com/en-us/entra/identity-platform/claims-challenge).
 */
export function findLoginChallenge(header: Parameters<typeof parseChallenges>[0]): LoginChallenge | undefined {
  for (const { scheme, parameters } of parseChallenges(header)) {
    if ((scheme !== 'bearer' && scheme !== 'dpop') || !LOGIN_ERRORS.has(parameters.get('error') ?? '')) continue;
    const text = (name: string, pattern: RegExp): string | undefined => {
      const value = parameters.get(name) ?? '';
      return value.length <= MAX_LENGTH && pattern.test(value) ? value : undefined;
    };
    const claims = parseClaims(text('claims', /./));
    const acr_values = text('acr_values', /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/);
    const max_age = text('max_age', /^\d{1,10}$/);
    return {
      ...(claims !== undefined && { claims }),
      ...(acr_values !== undefined && { acr_values }),
      ...(max_age !== undefined && { max_age }),
    };
  }
  return undefined;
}

/** JSON, or base64 or base64url of it; `undefined` if it is not an object. */
function parseClaims(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  for (const decode of [(text: string) => text, decodeBase64]) {
    try {
      const text = decode(value);
      const claims: unknown = JSON.parse(text);
      if (typeof claims === 'object' && claims !== null && !Array.isArray(claims)) return JSON.stringify(claims);
    } catch {
      // Not in this encoding.
    }
  }
  return undefined;
}

function decodeBase64(text: string): string {
  const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}
