import { nearest } from '../data/nearest.ts';
import { parsePath } from '../data/reference.ts';
import { isCompound, textOf, type Value } from '../data/value.ts';
import type { Variable } from '../data/variables.ts';
import type { ClientAuth, Provider, ReplayClass } from '../providers/provider.ts';
import type { Options, ReadFile } from './profile.ts';

/** An option's variable with its references followed. */
export interface OptionValue {
  readonly variable: Variable;
  readonly value: Value;
}

/** Notes a fault of a variable. */
export type Report = (variable: Variable, message: string, advice: string) => void;

/** Reads the file that an option names. */
export type ReadOptionFile = (path: string, variable: Variable) => string | undefined;

/** The options of a profile and the two that decide how it is read. */
export interface ReadOptions {
  readonly options: Options;
  readonly clientAuth: ClientAuth | undefined;
  readonly allowHttp: boolean;
}

const clientAuths = ['body', 'basic', 'basic_raw', 'none', 'private_key_jwt'] as const satisfies ClientAuth[];
const replayClasses = ['safe', 'grace', 'refused', 'revokes'] as const satisfies ReplayClass[];

const DEFAULT_TIMEOUT_MS = 30_000;

/** Every option, with one sentence for a person. */
export const optionNames: Readonly<Record<string, string>> = {
  timeout: 'total time for a token, retries included (30s)',
  client_auth: `how the client authenticates: ${clientAuths.join(', ')}`,
  key_file: 'private key for private_key_jwt, PEM or JWK',
  key_id: 'the key id (kid) that private_key_jwt names',
  audience: 'the audience (aud) of private_key_jwt; the token URL unless set',
  token_path: 'where the access token is in the reply, such as data.token',
  allow_http: 'true: send secrets without TLS beyond this machine',
  ca_file: 'certificates to trust beside those of the system, PEM',
  cert_file: 'client certificate for mutual TLS, PEM',
  cert_key_file: 'private key of the client certificate, PEM',
  replay: `what the provider does with a refresh token used twice: ${replayClasses.join(', ')}`,
  grace: 'how long a used refresh token is accepted again (30s)',
};

/** Checks the options of a profile; each fault goes to `report`. */
export function readOptions(
  given: ReadonlyMap<string, OptionValue>,
  provider: Provider | undefined,
  report: Report,
  readFile: ReadOptionFile,
): ReadOptions {
  for (const [name, { variable }] of given) {
    if (Object.hasOwn(optionNames, name)) continue;
    const near = nearest(name, Object.keys(optionNames));
    report(
      variable,
      'is not an option',
      near === undefined ? `options are ${Object.keys(optionNames).join(', ')}` : `did you mean options.${near}?`,
    );
  }

  function read<T>(name: string, parse: (text: string, variable: Variable) => T | undefined, form: string) {
    const option = given.get(name);
    if (option === undefined) return undefined;
    const text = isCompound(option.value) ? undefined : textOf(option.value);
    if (text === '') return undefined;
    const parsed = typeof text === 'string' ? parse(text, option.variable) : undefined;
    if (parsed === undefined) report(option.variable, `is not ${form}`, `set it to ${form}, or remove it`);
    return parsed;
  }
  const text = (name: string) => read(name, (value) => value, 'a text');
  const duration = (name: string) => read(name, parseDuration, 'a time such as 30s, 500ms or 2m');
  const choice = <T extends string>(name: string, of: readonly T[]) =>
    read(name, (value) => of.find((one) => one === value), `one of ${of.join(', ')}`);
  const file = (name: string): ReadFile | undefined =>
    read(
      name,
      (path, variable) => {
        const content = readFile(path, variable);
        return content === undefined ? undefined : { path, text: content };
      },
      'a file that can be read',
    );

  const replay = choice('replay', replayClasses) ?? provider?.replay ?? 'revokes';
  const certificate = { cert: file('cert_file'), certKey: file('cert_key_file') };
  const [certOption, keyOption] = [given.get('cert_file'), given.get('cert_key_file')];
  if (keyOption !== undefined && certOption === undefined) {
    report(keyOption.variable, 'has no certificate beside it', 'set options.cert_file too');
  }
  if (
    certificate.cert !== undefined &&
    keyOption === undefined &&
    !certificate.cert.text.includes('PRIVATE KEY-----')
  ) {
    if (certOption !== undefined) report(certOption.variable, 'has no private key', 'set options.cert_key_file too');
  }
  return {
    clientAuth: choice('client_auth', clientAuths),
    allowHttp: choice('allow_http', ['true', 'false']) === 'true',
    options: {
      timeoutMs: duration('timeout') ?? DEFAULT_TIMEOUT_MS,
      tokenPath: read('token_path', parseTokenPath, 'a path such as data.token'),
      replay,
      graceMs: duration('grace') ?? provider?.graceMs ?? DEFAULT_TIMEOUT_MS,
      audience: text('audience'),
      keyId: text('key_id'),
      key: file('key_file'),
      ca: file('ca_file'),
      ...certificate,
    },
  };
}

/** `30`, `30s`, `500ms`, `5m`, `1h` in milliseconds; a bare number counts seconds. */
export function parseDuration(text: string): number | undefined {
  const found = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)?$/.exec(text);
  if (found === null) return undefined;
  const unit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[found[2] ?? 's'] ?? 1000;
  const ms = Number(found[1]) * unit;
  // Timers cannot wait longer than 2^31 ms.
  return ms >= 1 && ms < 2 ** 31 ? ms : undefined;
}

function parseTokenPath(text: string): readonly (string | number)[] | undefined {
  try {
    return parsePath(text);
  } catch {
    return undefined;
  }
}
