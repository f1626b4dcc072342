import { MASK } from './secret.ts';

const codes = ['code', 'device_code'];
const sensitive = /secret|passw|passphrase|token|assertion|credential|api.?key|private/i;
/** `token_path`, `refresh_token_reuse` and `assertion_source` are options, the others describe a token or where to request it. */
const notSensitive = /^token_path$|^refresh_token_reuse$|^assertion_source$|(?:^|_)token_type$|_url$|_endpoint$/i;

/** Whether a variable, form field or response member of this name holds a secret. The last part of a dotted name decides. */
export function isSensitiveName(name: string): boolean {
  const field = name.slice(name.lastIndexOf('.') + 1);
  return codes.includes(field) || (sensitive.test(field) && !notSensitive.test(field));
}

/**
 * A dotted name as shown in messages. What follows a sensitive name is masked, because it may be the secret itself,
 * misread as a map (`client_secret: {S3cr3t}`). The name of the profile is never sensitive.
 */
export function displayName(name: string, profile = name.split('.', 1).join()): string {
  const parts = name.slice(profile.length + 1).split('.');
  // The members of `options.assertion` are claims.
  const index = parts.findIndex(
    (part, at) => isSensitiveName(part) && !(part === 'assertion' && parts[at - 1] === 'options'),
  );
  if (index < 0 || index === parts.length - 1) return name;
  return [profile, ...parts.slice(0, index + 1), MASK].join('.');
}
