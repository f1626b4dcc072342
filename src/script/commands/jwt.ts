import { parseJson } from '../../config/json.ts';
import { isCollection, isEmpty, type Value } from '../../config/value.ts';
import { excerpt } from '../../redaction/sanitize.ts';
import { Secret } from '../../redaction/secret.ts';
import { type Command, defineCommand } from '../command.ts';
import { textValue } from '../compare.ts';
import { StepFailure } from '../step-failure.ts';
import { readVerifyingKeys } from './jwt-keys.ts';

/** Clocks of two machines differ. */
const CLOCK_TOLERANCE_S = 5;
/** RFC 7518 §3.2. */
const MIN_KEY_BYTES = 32;

type Members = { readonly [member: string]: Value };

interface Jwt {
  readonly header: Members;
  readonly payload: Members;
}

const jwtParse = defineCommand({
  group: 'ws',
  name: 'jwtParse',
  summary: 'Saves the header and payload of a JWT; with a key only if its signature, exp and nbf are right',
  parameters: [
    { name: 'var', kind: 'variable', help: 'The variable to write; it gets the members header and payload' },
    { name: 'token', kind: 'text', help: 'The token', secret: true },
    {
      name: 'key',
      kind: 'value',
      help: 'The text that HS256 is made with, or a public key, certificate (PEM), JWK or JWKS; nothing is verified without it',
      optional: true,
      secret: true,
    },
  ],
  example: 'ws.jwtParse: [claims, "${token.id_token}", "${jwks.body}"]',
  async run(args, context) {
    const token = clearText(args.token).trim();
    const jwt = decode(token);
    if (args.key !== undefined) await verify(token, jwt, keyText(args.key), context.clock.now());
    context.set(args.var, { header: jwt.header, payload: jwt.payload });
  },
});

const jwtSignHS256 = defineCommand({
  group: 'ws',
  name: 'jwtSignHS256',
  summary: 'Makes a JWT that is signed with HS256',
  parameters: [
    { name: 'var', kind: 'variable', help: 'The variable to write' },
    { name: 'payload', kind: 'value', help: 'The claims: a map or its JSON text' },
    { name: 'key', kind: 'text', help: 'The text to sign with, of 32 bytes or more', secret: true },
  ],
  example: 'ws.jwtSignHS256: [assertion, {sub: ada, aud: "https://api.example.com"}, "${env:SIGNING_SECRET}"]',
  async run(args, context) {
    const { CompactSign } = await import('jose');
    // From now on its value is masked wherever it turns up.
    const secret = new Secret(keyText(args.key));
    const key = new TextEncoder().encode(secret.reveal());
    if (key.length < MIN_KEY_BYTES) {
      context.say(`the key is shorter than the ${MIN_KEY_BYTES} bytes that RFC 7518 asks for: it can be guessed`);
    }
    const claims = new TextEncoder().encode(claimsText(args.payload));
    const token = await new CompactSign(claims).setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).sign(key);
    context.set(args.var, new Secret(token));
  },
});

/** A text is signed as it is written, once it is known to be a map. */
function claimsText(payload: Value): string {
  const text = clearText(textValue(payload));
  if (!isCollection(payload)) readMembers(text, 'the payload');
  else if (Array.isArray(payload)) throw new StepFailure('the payload is not a map');
  return text;
}

/** An empty key is a variable that somebody forgot to fill: it must not pass for none. */
function keyText(key: Value): string {
  if (isEmpty(key)) throw new StepFailure('the key is empty');
  return clearText(textValue(key));
}

function clearText(text: string | Secret): string {
  return typeof text === 'string' ? text : text.reveal();
}

function decode(token: string): Jwt {
  const parts = token.split('.');
  if (parts.length === 5) throw new StepFailure('the token is encrypted (JWE): only its receiver can read it');
  if (parts.length !== 3) throw new StepFailure('is not a JWT: it would be three parts with dots between');
  const [header = '', payload = ''] = parts;
  return {
    header: readMembers(decodePart(header, 'the header'), 'the header'),
    payload: readMembers(decodePart(payload, 'the payload'), 'the payload'),
  };
}

function decodePart(part: string, what: string): string {
  if (!/^[A-Za-z0-9_-]+$/.test(part)) throw new StepFailure(`is not a JWT: ${what} is not base64url`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(part, 'base64url'));
  } catch {
    throw new StepFailure(`is not a JWT: ${what} is not UTF-8`);
  }
}

function readMembers(text: string, what: string): Members {
  let value: Value = null;
  try {
    value = parseJson(text, what);
  } catch {}
  if (!isCollection(value) || Array.isArray(value)) throw new StepFailure(`${what} is not a JSON map`);
  return value as Members;
}

async function verify(token: string, { header, payload }: Jwt, text: string, now: number): Promise<void> {
  const { jwtVerify } = await import('jose');
  const keys = readVerifyingKeys(text);
  const { alg, kid } = header;
  const fitting = keys.filter(
    (one) => one.algorithms.some((name) => name === alg) && (kid === undefined || (one.kid ?? kid) === kid),
  );
  if (fitting.length === 0) {
    const named = kid === undefined ? '' : ` and kid ${shown(kid)}`;
    throw new StepFailure(`no key fits a token with alg ${shown(alg)}${named}`, {
      expected: [...new Set(keys.flatMap(({ algorithms }) => algorithms))].join(', '),
      actual: shown(alg),
    });
  }
  for (const { key, algorithms } of fitting) {
    try {
      const currentDate = new Date(now);
      await jwtVerify(token, key, { algorithms: [...algorithms], currentDate, clockTolerance: CLOCK_TOLERANCE_S });
      return;
    } catch (error) {
      const { code } = error as { code?: unknown };
      // Without a kid any key of a set may be the one.
      if (code !== 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED') throw refusal(error, payload);
    }
  }
  throw new StepFailure('the signature does not fit the key: the token was changed, or signed with another key');
}

function refusal(error: unknown, payload: Members): StepFailure {
  const { code, claim, name } = error as { code?: string; claim?: string; name?: string };
  if (code === 'ERR_JWT_EXPIRED') return new StepFailure('the token has expired', { actual: instant(payload['exp']) });
  if (code === 'ERR_JWT_CLAIM_VALIDATION_FAILED' && claim === 'nbf' && typeof payload['nbf'] === 'number') {
    return new StepFailure('the token is not valid yet', { actual: instant(payload['nbf']) });
  }
  if (claim !== undefined) return new StepFailure(`the token's ${claim} is not a time`);
  return new StepFailure(`the token cannot be verified (${code ?? name})`);
}

function instant(seconds: Value | undefined): string {
  const date = new Date(Number(seconds) * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString();
}

/** A word of the token's header. */
function shown(value: Value | undefined): string {
  return value === undefined ? 'none' : excerpt(JSON.stringify(value), 40);
}

/** The commands of the group ws that read and make JWTs. */
export const jwtCommands: readonly Command[] = [jwtParse, jwtSignHS256];
