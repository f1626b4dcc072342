/**
 * Whether a host is this machine: only there may secrets be sent without TLS. `localhost` is the only name that counts:
 * some systems resolve `app.localhost` over the network.
 */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}
