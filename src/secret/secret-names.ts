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
