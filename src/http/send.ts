import { TransportError } from '../errors.ts';
import { ATTEMPT_MS } from '../oauth/retry-policy.ts';
import type { Send, WireRequest } from '../ports.ts';
import type { Connector } from './connector.ts';
import { sendRequest } from './request.ts';
import { decompress, readBody } from './response-body.ts';

const MAX_RESPONSE_BYTES = 1_048_576;
/** An attempt may spend this much of its time before the request is sent. */
const PREPARATION_MS = 250;

/** Creates the {@link Send} port, which POSTs to a token endpoint. */
export function createSend(connector: Connector): Send {
  return async (request, limits) => {
    const { url, profile } = request;
    const route = connector.route(request);
    const retryHint = limits.timeoutMs < ATTEMPT_MS - PREPARATION_MS ? `, or increase ${profile}.options.timeout` : '';
    return sendRequest(
      route,
      request,
      {
        method: 'POST',
        headers: headerList(request),
        writeBody(outgoing) {
          outgoing.end(request.body);
        },
        async readResponse(incoming) {
          const body = await readBody(decompress(incoming, url.host), MAX_RESPONSE_BYTES);
          if (body === undefined) throw responseTooLarge(url);
          const { statusCode: status = 0, headers } = incoming;
          return { status, headers, body: body.toString(), secrets: route.secrets };
        },
        timeoutHint: `the provider is slow or unavailable: try again later${retryHint}`,
      },
      limits,
    );
  };
}

function headerList({ url, headers, body }: WireRequest): string[] {
  const list = ['Host', url.host, 'Content-Length', String(Buffer.byteLength(body))];
  for (const [name, value] of Object.entries(headers)) {
    list.push(name, typeof value === 'string' ? value : value.reveal());
  }
  return list;
}

function responseTooLarge({ host }: URL): TransportError {
  return new TransportError(
    'response_too_large',
    `the response from ${host} is larger than ${MAX_RESPONSE_BYTES} bytes`,
    {
      sent: true,
      hint: 'this is not a token response: check the URL',
    },
  );
}
