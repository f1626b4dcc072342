/** Headers that frame a message or choose its recipient; callers must not set them. */
const FORBIDDEN_HEADERS =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/i;

/** Whether the name is a token (RFC 9110 §5.1). */
export function isHeaderName(name: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name);
}

/** Whether only this package may set the header. */
export function isForbiddenHeader(name: string): boolean {
  return FORBIDDEN_HEADERS.test(name);
}

/** Whether the value has only tabs and printable ASCII characters: nothing that could end the header (RFC 9110 §5.5). */
export function isHeaderValue(value: string): boolean {
  return !/[^\t\x20-\x7e]/.test(value);
}
