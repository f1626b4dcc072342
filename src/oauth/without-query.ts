/** An address up to its query or fragment, whether it can be parsed or not. */
export function withoutQuery(address: string): string {
  return address.replace(/[?#].*$/s, '');
}
