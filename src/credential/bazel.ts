import { parseRequestUrls } from './request-url.ts';
import { expiryTime, type ToolToken } from './tool-token.ts';

/** Parses the input of `get` (https://github.com/EngFlow/credential-helper-spec); no URLs if it is malformed. */
export function parseBazelRequest(input: string): { readonly urls: readonly URL[] } {
  try {
    const { uri } = Object(JSON.parse(input));
    return { urls: typeof uri === 'string' ? parseRequestUrls(uri) : [] };
  } catch {
    return { urls: [] };
  }
}

/** Formats the response to `get`; without a token, no headers are needed. */
export function formatBazelResponse(token: ToolToken | undefined): string {
  if (token === undefined) return '{"headers":{}}';
  const { name, value } = token.header;
  return JSON.stringify({ headers: { [name]: [value] }, expires: expiryTime(token) });
}
