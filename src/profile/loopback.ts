/** Whether a host is this machine: only there may secrets travel without TLS. Of names `localhost` alone counts: for `app.localhost` some systems ask the network. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}
