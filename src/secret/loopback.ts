/** Whether a host is this machine: only there may secrets travel without TLS. Of names `localhost` alone counts: for `app.localhost` some systems ask the network. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '');
  return name === 'localhost' || name === '::1' || /^127(?:\.\d{1,3}){3}$/.test(name);
}
