/** An address up to its query or fragment, whether it can be parsed or not. */
export function stripQuery(address: string): string {
  return address.replace(/[?#].*$/s, '');
}
