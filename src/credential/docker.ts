import { parseRequestUrls } from './request-url.ts';
import type { ToolToken } from './tool-token.ts';

/** The message that docker expects on stdout, with exit status 1, if a helper has no credentials for a server. */
export const DOCKER_NOT_FOUND = 'credentials not found in native keychain';

/** Parses the input of `get`: the host of a registry, or its URL. */
export function parseDockerRequest(input: string): { readonly server: string; readonly urls: readonly URL[] } {
  const server = input.trim();
  return { server, urls: parseRequestUrls(server) };
}

/** Formats the response to `get`. */
export function formatDockerResponse(server: string, { token }: ToolToken, username: string): string {
  return JSON.stringify({ ServerURL: server, Username: username, Secret: token });
}
