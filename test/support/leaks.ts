import { encodings, encodingsBeforeBase64, toBase64 } from './encodings.ts';

/** Every form of a secret that no output may contain. */
export function encodingsOf(secret: string): string[] {
  const base64 = Object.values(encodingsBeforeBase64).flatMap((encode) =>
    ['', '-', '--'].flatMap((before) =>
      (['base64', 'base64url'] as const).map((alphabet) => toBase64(before, encode(secret), '', alphabet).part),
    ),
  );
  return [...Object.values(encodings).map((encode) => encode(secret)), ...base64];
}

/** The forms of `secrets` that occur in `text`. */
export function leaksIn(text: string, secrets: readonly string[]): string[] {
  return secrets.flatMap((secret) => [...new Set(encodingsOf(secret))].filter((form) => text.includes(form)));
}
