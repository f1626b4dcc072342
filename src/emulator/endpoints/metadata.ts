import { type EmulatorResponse, json, text } from '../messages.ts';
import type { RequestContext } from '../realm.ts';
import { publicUrl, requestTarget } from './target.ts';

/** The metadata document: the issuer, the endpoints and what they support (RFC 8414). */
export function metadataEndpoint({ request, realm, keys }: RequestContext): EmulatorResponse {
  const { provider } = realm;
  const metadata = provider.metadata?.(requestTarget(realm, request));
  if (metadata === undefined) return text(404, 'Not Found');
  const document = {
    grant_types_supported: provider.grants,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [keys.alg],
    code_challenge_methods_supported: ['plain', 'S256'],
    ...metadata,
  };
  const isUrl = (name: string): boolean => /^issuer$|_endpoint$|_uri$/.test(name);
  return json(
    200,
    Object.fromEntries(
      Object.entries(document).map(([name, value]) => [name, isUrl(name) ? publicUrl(request, String(value)) : value]),
    ),
  );
}

/** The public keys that verify tokens (RFC 7517 §5). */
export async function keysEndpoint({ keys }: RequestContext): Promise<EmulatorResponse> {
  return json(200, await keys.jwks(), { 'Cache-Control': 'max-age=0' });
}
