import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';

/** A response, or the URL of another host to which it redirects. */
export interface Arrival {
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const MAX_REDIRECTS = 10;

/** A minimal browser for a login: it stores cookies, follows redirects within one host and submits forms. */
export class Browser {
  readonly #cookies = new Map<string, string>();

  /** `ca` is the PEM of the certificate authority to trust. */
  constructor(readonly ca?: string) {}

  /** Requests a URL; with a form, by POST. A redirect to another host is not followed. */
  async visit(start: string, form?: Record<string, string>, headers: Record<string, string> = {}): Promise<Arrival> {
    let url = start;
    let sent = form && new URLSearchParams(form).toString();
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const arrival = await this.send(url, sent, headers);
      const { location } = arrival.headers;
      if (location === undefined) return arrival;
      const target = new URL(location, url);
      if (target.host !== new URL(url).host) return { ...arrival, url: target.href };
      url = target.href;
      sent = undefined;
    }
    throw new Error(`${start} redirects more than ${MAX_REDIRECTS} times`);
  }

  /** Submits a form of a page with its hidden fields and the given ones. `index` counts the forms from 0. */
  submit(page: Arrival, entered: Record<string, string> = {}, index = 0): Promise<Arrival> {
    const form = [...page.text.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)][index];
    if (form === undefined) throw new Error(`${page.url} (HTTP ${page.status}) has no form ${index}:\n${page.text}`);
    const { action } = attributesOf(form[1] ?? '');
    const hidden = [...(form[2] ?? '').matchAll(/<input\b([^>]*)>/g)]
      .map(([, attributes = '']) => attributesOf(attributes))
      .filter(({ type }) => type === 'hidden')
      .map(({ name = '', value = '' }) => [name, value]);
    return this.visit(new URL(action || page.url, page.url).href, { ...Object.fromEntries(hidden), ...entered });
  }

  /** Sends one request, with the body as a form unless `headers` have another type. */
  send(
    url: string,
    body: string | undefined,
    headers: Record<string, string> = {},
    method = body === undefined ? 'GET' : 'POST',
  ): Promise<Arrival> {
    const secure = url.startsWith('https:');
    const cookies = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return new Promise((resolve, reject) => {
      const request = (secure ? httpsRequest : httpRequest)(
        url,
        {
          method,
          agent: false,
          ...(secure && { ca: this.ca }),
          headers: {
            ...(cookies !== '' && { Cookie: cookies }),
            ...(body !== undefined && {
              'Content-Type': 'application/x-www-form-urlencoded',
              'Content-Length': Buffer.byteLength(body),
            }),
            ...headers,
          },
        },
        (response) => {
          this.#remember(response.headers['set-cookie'] ?? []);
          let text = '';
          response.setEncoding('utf8').on('data', (chunk) => {
            text += chunk;
          });
          response.on('error', reject);
          response.on('end', () => resolve({ url, status: response.statusCode ?? 0, headers: response.headers, text }));
        },
      );
      request.on('error', reject);
      request.end(body);
    });
  }

  #remember(cookies: readonly string[]): void {
    for (const cookie of cookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
  }
}

/** The attributes of an HTML tag. */
function attributesOf(tag: string): Record<string, string> {
  const found = [...tag.matchAll(/([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)];
  return Object.fromEntries(found.map(([, name, double, single]) => [name, decode(double ?? single ?? '')]));
}

/** Decodes the entities that occur in attributes. */
function decode(value: string): string {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return value.replace(/&(?:#x([\da-f]+)|#(\d+)|(amp|lt|gt|quot|apos));/gi, (_, hex, decimal, name) =>
    name === undefined
      ? String.fromCodePoint(hex === undefined ? Number(decimal) : parseInt(hex, 16))
      : (named[name] ?? ''),
  );
}

const credentials = { username: 'ada@example.com', password: 'lovelace', step: 'sign-in' };

/** Signs in at a page of the emulator, without a real browser. Returns the redirect URL, which is not visited. */
export async function signInByHand(url: string): Promise<string> {
  const browser = new Browser();
  const consent = await browser.submit(await browser.visit(url), credentials);
  return (await browser.submit({ ...consent, url }, { step: 'allow' })).url;
}

/** Enters a device code at a page of the emulator, signs in and consents, without a real browser. Returns the last page. */
export async function enterCodeByHand(url: string, code: string): Promise<string> {
  const browser = new Browser();
  const entered = await browser.submit(await browser.visit(url), { user_code: code });
  return (await browser.submit(await browser.submit(entered, credentials), { step: 'allow' })).text;
}
