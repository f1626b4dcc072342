import { execFile } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { promisify } from 'node:util';
import type { OAuthProfileError } from '../../errors.ts';
import { parseBody } from '../../oauth/http-response.ts';
import type { Environment, Limits } from '../../ports.ts';
import type { AssertionSource } from '../../profile/profile.ts';
import { excerpt } from '../../redaction/sanitize.ts';
import { registerSecret } from '../../redaction/secret.ts';

type Invalid = (message: string, hint: string) => OAuthProfileError;
type Members = Readonly<Record<string, unknown>>;

const MAX_BYTES = 65_536;

/** Runs the program of a Google credential file and returns the subject token that it prints (https://google.aip.dev/auth/4117). */
export async function runExecutable(
  { value: command, settings = {}, location }: AssertionSource,
  env: Environment,
  { timeoutMs, signal }: Limits,
  invalid: Invalid,
): Promise<string | undefined> {
  // A cloned repository must not run programs.
  if (location.trust === 'directory')
    throw invalid('is a program in a key_file of the working directory', 'set key_file in your own profile file');
  if (env['GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES'] !== '1')
    throw invalid(
      'is a program, which is not allowed to run',
      'set GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1 if you trust it',
    );
  const words = command.match(/(?:[^\s"]+|"[^"]*")+/g) ?? [];
  const [program = '', ...args] = words.map((word) => word.replace(/^"(.*)"$/, '$1'));
  const own = Object.entries(env).filter(([name]) => !/^OAUTH_PROFILE_/i.test(name));
  const { timeout_millis: limit, ...variables } = settings;
  const { stdout } = await promisify(execFile)(program, args, {
    env: { ...Object.fromEntries(own), ...variables, GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE: '0' },
    timeout: Math.min(timeoutMs, Number(limit) || timeoutMs),
    maxBuffer: MAX_BYTES,
    ...(signal && { signal }),
  }).catch((error: NodeJS.ErrnoException & { killed?: boolean }) => {
    throw invalid(`failed: ${program} ended with ${error.killed ? 'a timeout' : error.code}`, 'run it yourself');
  });
  const body = parseBody(stdout);
  const members: Members = body.kind === 'object' ? body.members : {};
  const { success, code, message, id_token: jwt, saml_response: saml, expiration_time: expiry } = members;
  if (success !== true)
    throw invalid(`failed: ${program} returned ${excerpt(`${code}: ${message}`, 200)}`, 'run it yourself');
  if (Number(expiry ?? Number.POSITIVE_INFINITY) * 1000 <= Date.now())
    throw invalid(`failed: ${program} returned an expired token`, 'run it yourself');
  return typeof jwt === 'string' ? jwt : typeof saml === 'string' ? saml : undefined;
}

/** Requests a URL of the metadata service of AWS. */
type GetMetadata = (url: string, headers: Readonly<Record<string, string>>, method?: 'PUT') => Promise<string>;

/** A request to AWS, signed with the credentials of this machine. Google sends it to find out who the caller is. */
export async function signCallerIdentity(
  { settings = {}, value: audience }: AssertionSource,
  env: Environment,
  getMetadata: GetMetadata,
  invalid: Invalid,
): Promise<string> {
  const { region_url: regionUrl, url, imdsv2_session_token_url: sessionUrl } = settings;
  const hasKeys = env['AWS_ACCESS_KEY_ID'] && env['AWS_SECRET_ACCESS_KEY'];
  const configured = env['AWS_REGION'] || env['AWS_DEFAULT_REGION'];
  const session: Record<string, string> = {};
  if (sessionUrl !== undefined && !(hasKeys && configured))
    session['x-aws-ec2-metadata-token'] = await getMetadata(
      sessionUrl,
      { 'x-aws-ec2-metadata-token-ttl-seconds': '300' },
      'PUT',
    );
  const missing = (name: string): never => {
    throw invalid(`is AWS, but the credential_source has no ${name}`, 'set AWS_REGION and the AWS credentials');
  };
  // The availability zone is the region and a letter.
  const region = configured || (await getMetadata(regionUrl ?? missing('region_url'), session)).slice(0, -1);
  const readKeys = async (root: string): Promise<Members> => {
    const body = parseBody(await getMetadata(`${root}/${await getMetadata(root, session)}`, session));
    return body.kind === 'object' ? body.members : {};
  };
  const {
    AccessKeyId: id,
    SecretAccessKey: key,
    Token: token,
  } = hasKeys
    ? {
        AccessKeyId: env['AWS_ACCESS_KEY_ID'],
        SecretAccessKey: env['AWS_SECRET_ACCESS_KEY'],
        Token: env['AWS_SESSION_TOKEN'],
      }
    : await readKeys(url ?? missing('url'));
  for (const secret of [key, token]) if (typeof secret === 'string') registerSecret(secret);
  const target = (settings['regional_cred_verification_url'] ?? '').replace('{region}', region);
  const headers = sign(new URL(target), region, String(id), String(key), token ? String(token) : undefined);
  const all = Object.entries({ ...headers, 'x-goog-cloud-target-resource': audience }).sort();
  const listed = all.map(([name, value]) => ({ key: name, value }));
  return encodeURIComponent(JSON.stringify({ url: target, method: 'POST', headers: listed }));
}

/** AWS Signature Version 4 of a POST without a body (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html). */
function sign({ host, pathname, search }: URL, region: string, id: string, key: string, token: string | undefined) {
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
  const hmac = (secret: string | Buffer, text: string): Buffer => createHmac('sha256', secret).update(text).digest();
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = [time.slice(0, 8), region, host.split('.')[0] ?? '', 'aws4_request'];
  const headers = { host, 'x-amz-date': time, ...(token !== undefined && { 'x-amz-security-token': token }) };
  const names = Object.keys(headers).join(';');
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
  const request = ['POST', pathname, search.slice(1), lines.join(''), names, sha256('')].join('\n');
  const signed = ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256(request)].join('\n');
  const signingKey = scope.reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${key}`);
  const signature = hmac(signingKey, signed).toString('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=${id}/${scope.join('/')}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...headers, authorization };
}
