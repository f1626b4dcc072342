import { createPublicKey, createSecretKey, type JsonWebKey, type KeyObject, X509Certificate } from 'node:crypto';
import { parseJson } from '../../config/json.ts';
import { isCollection, isEmpty, type Value } from '../../config/value.ts';
import { excerpt } from '../../redaction/sanitize.ts';
import { Secret } from '../../redaction/secret.ts';
import { attempt } from '../attempt.ts';
import { commandGroup, parameter } from '../command.ts';
import { stringifyValue } from '../compare.ts';
import { StepFailure } from '../step-context.ts';

/** Allowed difference between the clocks of two machines. */
const CLOCK_TOLERANCE_S = 5;
/** RFC 7518 §3.2. */
const MIN_KEY_BYTES = 32;

type Members = { readonly [member: string]: Value };

type Jwt = Readonly<Record<'header' | 'payload', Members>>;

const ws = commandGroup('ws');

/** The ws commands for JWTs. */
export const jwtCommands = [
  ws(
    'jwtParse',
    'Saves the header and payload of a JWT; with a key, the step fails unless the signature, exp and nbf are valid',
    {
      parameters: [
        parameter('var', 'variable', 'Variable to set; its members are header and payload'),
        parameter('token', 'text', 'Token', { secret: true }),
        parameter(
          'key',
          'value',
          'Shared secret of HS256, or a public key, certificate (PEM), JWK or JWKS; without it nothing is verified',
          { optional: true, secret: true },
        ),
      ],
      example: 'ws.jwtParse: [claims, "${token.id_token}", "${jwks.body}"]',
      async run(args, context) {
        const token = revealText(args.token).trim();
        const jwt = decodeJwt(token);
        if (args.key !== undefined) await verifyJwt(token, jwt, requireKey(args.key), context.clock.now());
        context.set(args.var, context.apiSecrets.wrap({ header: jwt.header, payload: jwt.payload }, ''));
      },
    },
  ),
  ws('jwtSignHS256', 'Creates a JWT signed with HS256', {
    parameters: [
      parameter('var', 'variable', 'Variable to set'),
      parameter('payload', 'value', 'Claims: a map or a JSON string'),
      parameter('key', 'text', 'Shared secret, at least 32 bytes', { secret: true }),
    ],
    example: 'ws.jwtSignHS256: [assertion, {sub: ada, aud: "https://api.example.com"}, "${env:SIGNING_SECRET}"]',
    async run(args, context) {
      const { CompactSign } = await import('jose');
      // Wrapping the key masks it in all output.
      const secret = new Secret(requireKey(args.key));
      const key = new TextEncoder().encode(secret.reveal());
      if (key.length < MIN_KEY_BYTES)
        context.log(`the key is shorter than ${MIN_KEY_BYTES} bytes, the minimum of RFC 7518 §3.2`);
      const claims = new TextEncoder().encode(serializeClaims(args.payload));
      const token = await new CompactSign(claims).setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).sign(key);
      context.set(args.var, new Secret(token));
    },
  }),
];

/** A JSON string is signed unchanged after its syntax was checked. */
function serializeClaims(payload: Value): string {
  const text = revealText(stringifyValue(payload));
  if (!isCollection(payload)) parseObject(text, 'the payload');
  else if (Array.isArray(payload)) throw new StepFailure('the payload is not a JSON object');
  return text;
}

/** An empty key is a variable that was not filled in; it must not skip the verification. */
function requireKey(key: Value): string {
  if (isEmpty(key)) throw new StepFailure('the key is empty');
  return revealText(stringifyValue(key));
}

function revealText(text: string | Secret): string {
  return typeof text === 'string' ? text : text.reveal();
}

function decodeJwt(token: string): Jwt {
  const parts = token.split('.');
  if (parts.length === 5) throw new StepFailure('the token is encrypted (JWE): only its recipient can read it');
  if (parts.length !== 3) throw new StepFailure('not a JWT: expected three parts separated by dots');
  const [header = '', payload = ''] = parts;
  return { header: decodePart(header, 'the header'), payload: decodePart(payload, 'the payload') };
}

function decodePart(part: string, what: string): Members {
  if (!/^[A-Za-z0-9_-]+$/.test(part)) throw new StepFailure(`not a JWT: ${what} is not base64url`);
  const text = attempt(() => new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(part, 'base64url')));
  if (text === undefined) throw new StepFailure(`not a JWT: ${what} is not UTF-8`);
  return parseObject(text, what);
}

function parseObject(text: string, what: string): Members {
  const value = attempt(() => parseJson(text, what)) ?? null;
  if (!isCollection(value) || Array.isArray(value)) throw new StepFailure(`${what} is not a JSON object`);
  return value as Members;
}

async function verifyJwt(token: string, { header, payload }: Jwt, text: string, now: number): Promise<void> {
  const { jwtVerify } = await import('jose');
  const keys = parseVerifyingKeys(text);
  const { alg, kid } = header;
  const candidates = keys.filter(
    (one) => one.algorithms.some((name) => name === alg) && (kid === undefined || (one.kid ?? kid) === kid),
  );
  if (candidates.length === 0) {
    const named = kid === undefined ? '' : ` and kid ${displayHeader(kid)}`;
    throw new StepFailure(`no key for alg ${displayHeader(alg)}${named}`, {
      expected: [...new Set(keys.flatMap(({ algorithms }) => algorithms))].join(', '),
      actual: displayHeader(alg),
    });
  }
  for (const { key, algorithms } of candidates) {
    try {
      const currentDate = new Date(now);
      await jwtVerify(token, key, { algorithms: [...algorithms], currentDate, clockTolerance: CLOCK_TOLERANCE_S });
      return;
    } catch (error) {
      const { code } = error as { code?: unknown };
      // Without a kid any key of the set may have signed the token.
      if (code !== 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED') throw verificationFailure(error, payload);
    }
  }
  throw new StepFailure('the signature is invalid: the token was changed or signed with another key');
}

function verificationFailure(error: unknown, payload: Members): StepFailure {
  const { code, claim, name } = error as { code?: string; claim?: string; name?: string };
  if (code === 'ERR_JWT_EXPIRED')
    return new StepFailure('the token has expired', { actual: formatTime(payload['exp']) });
  if (code === 'ERR_JWT_CLAIM_VALIDATION_FAILED' && claim === 'nbf' && typeof payload['nbf'] === 'number')
    return new StepFailure('the token is not valid yet', { actual: formatTime(payload['nbf']) });
  if (claim !== undefined) return new StepFailure(`the ${claim} of the token is not a timestamp`);
  return new StepFailure(`the token cannot be verified (${code ?? name})`);
}

function formatTime(seconds: Value | undefined): string {
  const date = new Date(Number(seconds) * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString();
}

function displayHeader(value: Value | undefined): string {
  return value === undefined ? 'none' : excerpt(JSON.stringify(value), 40);
}

/** A key that verifies signatures, and the algorithms that it may be used with. */
interface VerifyingKey {
  readonly key: KeyObject;
  readonly algorithms: readonly string[];
  readonly kid: string | undefined;
}

interface ParsedKey {
  readonly key: KeyObject | undefined;
  readonly kid?: string | undefined;
  readonly alg?: string | undefined;
}

type Jwk = JsonWebKey & { alg?: string; kid?: string; use?: string };

const curves: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };

/**
 * Parses the keys in a string. The type of the key determines the algorithms, never the header of a token: otherwise an attacker could
 * sign HS256 with the public key (RFC 8725 §2.1).
 */
function parseVerifyingKeys(text: string): readonly VerifyingKey[] {
  if (/^\s*https?:\/\//i.test(text)) {
    const hint = 'request the keys with ws.get and pass the body of its response';
    throw new StepFailure('the key is a URL', { hint });
  }
  const keys = (/^\s*[{[]/.test(text) ? parseJwks(text) : [{ key: parseKey(text) }]).flatMap(withAlgorithms);
  if (keys.length > 0) return keys;
  throw new StepFailure('the key cannot be used', {
    hint: 'pass the shared secret of HS256 tokens, or a public key or certificate (PEM), JWK or JWKS; RSA, P-256, P-384, P-521 or Ed25519',
  });
}

/** Parses PEM, base64 without the PEM header and footer, as some servers publish their keys, or a shared secret. */
function parseKey(text: string): KeyObject | undefined {
  // Environment variables often contain `\n` for a line break.
  if (text.includes('-----BEGIN')) return attempt(() => createPublicKey(text.replaceAll('\\n', '\n')));
  const key = Buffer.from(/^[A-Za-z0-9+/_=\s-]{40,}$/.test(text) ? text : '', 'base64');
  return (
    attempt(() => createPublicKey({ key, format: 'der', type: 'spki' })) ??
    attempt(() => createPublicKey({ key, format: 'der', type: 'pkcs1' })) ??
    attempt(() => new X509Certificate(key).publicKey) ??
    createSecretKey(text, 'utf8')
  );
}

/** Keys for encryption and keys that cannot be used are ignored. */
function parseJwks(text: string): readonly ParsedKey[] {
  const parsed = Object(attempt(() => JSON.parse(text))) as Jwk | Jwk[] | { keys: Jwk[] };
  const keys = Array.isArray(parsed) ? parsed : 'keys' in parsed ? parsed.keys : [parsed];
  return (Array.isArray(keys) ? keys : []).map((jwk) => {
    const { kty, k, kid, alg, use } = jwk ?? {};
    const parse = () =>
      kty === 'oct' ? createSecretKey(k || '', 'base64url') : createPublicKey({ key: jwk, format: 'jwk' });
    return { key: use === 'enc' ? undefined : attempt(parse), kid, alg };
  });
}

function withAlgorithms({ key, kid, alg }: ParsedKey): readonly VerifyingKey[] {
  if (key === undefined || key.symmetricKeySize === 0) return [];
  const algorithms = algorithmsOf(key).filter((name) => alg === undefined || name === alg);
  return algorithms.length === 0 ? [] : [{ key, algorithms, kid }];
}

function algorithmsOf({ type, asymmetricKeyType, asymmetricKeyDetails: details }: KeyObject): readonly string[] {
  if (type === 'secret') return ['HS256', 'HS384', 'HS512'];
  if (asymmetricKeyType === 'ed25519') return ['EdDSA', 'Ed25519'];
  if (asymmetricKeyType === 'ec') return [curves[details?.namedCurve ?? ''] ?? []].flat();
  // RFC 7518 §3.3.
  if (asymmetricKeyType !== 'rsa' || (details?.modulusLength ?? 0) < 2048) return [];
  return ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
}
