// A small API to test: `node server.js`. No dependencies; all data is in memory. SHOP_PORT sets its port.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

const CLIENT = { id: 'shop-tests', secret: 'example-secret-of-the-shop' };
/** Polls after which an export is done. */
const POLLS = 3;

/** @typedef {{ query: URLSearchParams, headers: import('node:http').IncomingHttpHeaders, body: Buffer, form: URLSearchParams, json: any }} Input */
/** @typedef {[status: number, body?: unknown, headers?: Record<string, string>]} Result */
/** @typedef {[method: string, path: RegExp, handle: (input: Input, id: string) => Result]} Route */

/** Returns the server; the caller chooses its port. */
export function createShop() {
  /** @type {Set<string>} */
  const tokens = new Set();
  /** @type {Map<string, Record<string, unknown>>} */
  const orders = new Map();
  /** @type {Map<string, number>} */
  const exports = new Map();
  let lastId = 0;

  /** @type {Route[]} */
  const publicRoutes = [
    ['GET', /^\/status$/, () => [200, { status: 'up' }, { 'Cache-Control': 'no-store' }]],
    [
      'POST',
      /^\/token$/,
      ({ form }) => {
        if (form.get('client_id') !== CLIENT.id || form.get('client_secret') !== CLIENT.secret)
          return [401, { error: 'invalid_client', error_description: 'The client ID or secret is wrong.' }];
        if (form.get('grant_type') !== 'client_credentials') return [400, { error: 'unsupported_grant_type' }];
        const token = `shop-${randomUUID()}`;
        tokens.add(token);
        return [200, { access_token: token, token_type: 'Bearer', expires_in: 3600 }];
      },
    ],
    [
      'POST',
      /^\/contact$/,
      ({ form }) =>
        form.get('email')
          ? [200, { received: Object.fromEntries(form) }]
          : [422, problem('invalid', 'email is missing')],
    ],
  ];
  /** @type {Route[]} */
  const routes = [
    [
      'GET',
      /^\/shipping$/,
      ({ query }) => {
        const [zip, qty] = [query.get('zip') ?? '', Number(query.get('qty'))];
        if (!/^\d{5}$/.test(zip)) return [422, problem('invalid', 'zip must have five digits')];
        return [200, { price: qty >= 10 ? 0 : 4.9 + (qty - 1), currency: 'EUR' }];
      },
    ],
    [
      'POST',
      /^\/orders$/,
      ({ json }) => {
        if (!Number.isInteger(json?.qty) || json.qty < 1)
          return [422, problem('invalid', 'qty must be a positive number')];
        const order = {
          id: ++lastId,
          zip: json.zip,
          state: 'open',
          lines: [{ sku: json.sku ?? 'tea', qty: json.qty }],
        };
        orders.set(String(order.id), order);
        return [201, order, { Location: `/orders/${order.id}` }];
      },
    ],
    [
      'GET',
      /^\/orders$/,
      ({ query }) => {
        const page = Number(query.get('page') ?? 1);
        const all = [...orders.values()];
        const items = all.slice((page - 1) * 2, page * 2);
        return [200, { items, next: page * 2 < all.length ? page + 1 : null }];
      },
    ],
    [
      'GET',
      /^\/orders\/(\d+)$/,
      (_, id) => (orders.has(id) ? [200, orders.get(id)] : [404, problem('not_found', `no order ${id}`)]),
    ],
    ['PATCH', /^\/orders\/(\d+)$/, ({ json }, id) => [200, Object.assign(orders.get(id) ?? {}, { state: json.state })]],
    [
      'DELETE',
      /^\/orders\/(\d+)$/,
      (_, id) => (orders.delete(id) ? [204] : [404, problem('not_found', `no order ${id}`)]),
    ],
    [
      'POST',
      /^\/orders\/(\d+)\/export$/,
      (_, id) => {
        exports.set(id, 0);
        return [202, { state: 'queued' }];
      },
    ],
    [
      'GET',
      /^\/orders\/(\d+)\/export$/,
      (_, id) => {
        const polls = (exports.get(id) ?? 0) + 1;
        exports.set(id, polls);
        return [200, { state: polls < POLLS ? 'running' : 'done', polls }];
      },
    ],
    [
      'POST',
      /^\/files$/,
      ({ body, headers }) => [201, { type: String(headers['content-type']).split(';')[0], size: body.length }],
    ],
  ];

  return createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const url = new URL(request.url ?? '/', 'http://shop');
    const text = body.toString();
    const isJson = String(request.headers['content-type']).startsWith('application/json');
    const input = {
      query: url.searchParams,
      headers: request.headers,
      body,
      form: new URLSearchParams(text),
      json: isJson ? JSON.parse(text) : undefined,
    };
    const find = (/** @type {Route[]} */ list) =>
      list.find(([method, path]) => method === request.method && path.test(url.pathname));
    const isAuthorized = tokens.has(request.headers.authorization?.replace(/^Bearer /, '') ?? '');
    const route = find(publicRoutes) ?? (isAuthorized ? find(routes) : undefined);
    /** @type {Result} */
    const [status, result, headers] =
      route !== undefined
        ? route[2](input, route[1].exec(url.pathname)?.[1] ?? '')
        : isAuthorized
          ? [404, problem('not_found', `no page ${url.pathname}`)]
          : [401, problem('unauthorized', 'a token is required')];
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    response.end(result === undefined ? undefined : JSON.stringify(result));
  });
}

/** @param {string} code @param {string} message */
const problem = (code, message) => ({ error: { code, message } });

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const shop = createShop().listen(Number(process.env['SHOP_PORT'] ?? 8600), '127.0.0.1', () => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (shop.address());
    process.stdout.write(`the shop listens on http://127.0.0.1:${port}\n`);
  });
}
