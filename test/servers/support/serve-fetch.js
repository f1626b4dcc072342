import { createServer } from 'node:http';

/**
 * Serves a handler of Fetch requests on a free port of the loopback interface.
 * @param {(request: Request) => Promise<Response>} handle
 */
export function serve(handle) {
  const server = createServer(async (incoming, outgoing) => {
    const chunks = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
      method: incoming.method ?? 'GET',
      headers: Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
      body: chunks.length === 0 ? null : Buffer.concat(chunks),
    });
    const response = await handle(request);
    outgoing.writeHead(response.status, [
      ...[...response.headers].filter(([name]) => name !== 'set-cookie').flat(),
      ...response.headers.getSetCookie().flatMap((cookie) => ['set-cookie', cookie]),
    ]);
    outgoing.end(await response.text());
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (typeof address === 'object') process.stdout.write(`${address?.port}\n`);
  });
}
