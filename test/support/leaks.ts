/** Every form in which a secret may turn up in an output; written apart from the redactor's own list, so that both must be right. */
export function encodingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const percent = encodeURIComponent(secret);
  const everything = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const form = new URLSearchParams([['', secret]]).toString().slice(1);
  const lower = (text: string): string => text.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase());
  const json = JSON.stringify(secret).slice(1, -1);
  const unicode = [...secret]
    .map((char) =>
      /[a-z0-9]/i.test(char)
        ? char
        : char
            .split('')
            .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
            .join(''),
    )
    .join('');
  const html = secret.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
  const base64 = [secret, percent, form].flatMap((text) =>
    [0, 1, 2].map((offset) => {
      const padded = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
      return padded.toString('base64').slice(offset === 0 ? 0 : offset + 1, Math.floor((padded.length * 4) / 3));
    }),
  );
  return [
    secret,
    percent,
    lower(percent),
    form,
    lower(form),
    encodeURIComponent(percent),
    everything,
    json,
    unicode,
    html,
    html.replace(/'/g, '&#39;'),
    html.replace(/'/g, '&apos;'),
    html.replace(/'/g, '&#x27;'),
    secret.replace(/'/g, `'\\''`),
    secret.replace(/["\\$`]/g, '\\$&'),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ];
}

/** The forms of `secrets` that occur in a text. */
export function leaksIn(text: string, secrets: readonly string[]): string[] {
  return secrets.flatMap((secret) => [...new Set(encodingsOf(secret))].filter((form) => text.includes(form)));
}
