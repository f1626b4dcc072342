const secretNames = new Set(['code', 'device_code']);
const secretPattern = /secret|passw|token|assertion|credential|api.?key|private/i;
const harmlessPattern = /^(?:.*_)?token_type$|_url$|^token_path$/i;

/** Whether a variable, form field or response member of this name holds a secret; of a dotted name the last part decides. */
export function isSecretName(name: string): boolean {
  const field = name.slice(name.lastIndexOf('.') + 1);
  return secretNames.has(field) || (secretPattern.test(field) && !harmlessPattern.test(field));
}
