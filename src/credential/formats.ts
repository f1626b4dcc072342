import { quoteShellArgument } from '../profile/profile.ts';
import { expiryTime, type ToolToken } from './tool-token.ts';

/** `{"Authorization":"Bearer …"}`, for tools that run a program for their headers. */
export function formatHeadersJson({ header: { name, value } }: ToolToken): string {
  return JSON.stringify({ [name]: value });
}

/** Assignments for a POSIX shell. The time is empty if it is unknown, so that no earlier one remains. */
export function formatEnv(token: ToolToken): string {
  const assign = (name: string, value: string): string => `${name}=${value === '' ? '' : quoteShellArgument(value)}`;
  const lines = [assign('OAUTH_ACCESS_TOKEN', token.token), assign('OAUTH_TOKEN_EXPIRES_AT', expiryTime(token) ?? '')];
  return lines.join('\n');
}

/** A configuration for `curl --config -`. In quotes, curl reads a backslash as an escape. */
export function formatCurl({ header: { name, value } }: ToolToken): string {
  return `header = "${escapeQuoted(`${name}: ${value}`)}"`;
}

/**
 * One line for each host of the origins. The format has no ports, schemes or wildcards: hosts with a wildcard are omitted, and a program that reads
 * the file may send the token to another port of the host.
 */
export function formatNetrc({ token }: ToolToken, origins: readonly string[], username: string): string {
  const hosts = origins.filter((origin) => !origin.includes('*')).map((origin) => new URL(origin).hostname);
  const quote = (text: string): string => (/^[^\s"'\\#]+$/.test(text) ? text : `"${escapeQuoted(text)}"`);
  return [...new Set(hosts)]
    .map((host) => `machine ${host.replace(/^\[|\]$/g, '')} login ${quote(username)} password ${quote(token)}`)
    .join('\n');
}

function escapeQuoted(text: string): string {
  return text.replace(/["\\]/g, '\\$&');
}
