import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';

/** Where a browser has come to: a page, an answer, or an address outside of the server that it did not follow. */
export interface Arrival {
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const MAX_REDIRECTS = 10;

/** As much of a browser as a sign-in needs: it keeps cookies, follows redirects on one host and sends forms back. */
export class Browser {
  readonly #cookies = new Map<string, string>();

  /** `ca` is the PEM of the authority to trust. */
  constructor(readonly ca?: string) {}

  /** Goes to an address; with a form it posts. A redirect to another host is where it ends. */
  async visit(address: string, form?: Record<string, string>, headers: Record<string, string> = {}): Promise<Arrival> {
    let url = address;
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
    throw new Error(`${address} redirects for ever`);
  }

  /** Sends the form of a page back with its hidden fields and what the person entered. */
  submit(page: Arrival, entered: Record<string, string> = {}): Promise<Arrival> {
    const [, action] = /<form[^>]* action="([^"]*)"/.exec(page.text) ?? [];
    const hidden = [...page.text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
    const fields = Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value]));
    return this.visit(new URL(action ?? page.url, page.url).href, { ...fields, ...entered });
  }

  /** One request; a body that is a text is sent as a form. */
  send(url: string, body: string | undefined, headers: Record<string, string> = {}): Promise<Arrival> {
    const secure = url.startsWith('https:');
    const cookies = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return new Promise((resolve, reject) => {
      const request = (secure ? httpsRequest : httpRequest)(
        url,
        {
          method: body === undefined ? 'GET' : 'POST',
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
