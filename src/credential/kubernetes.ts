import { OAuthProfileError } from '../errors.ts';
import { excerpt } from '../redaction/sanitize.ts';
import { parseRequestUrls } from './request-url.ts';
import { expiryTime, type ToolToken } from './tool-token.ts';

const GROUP = 'client.authentication.k8s.io';

/** The content of `KUBERNETES_EXEC_INFO`. */
export interface KubernetesRequest {
  readonly apiVersion: string;
  /** The API server, if the user entry has `provideClusterInfo: true`; else empty. */
  readonly urls: readonly URL[];
}

/** Parses `KUBERNETES_EXEC_INFO`; clients that do not set it get the stable version. */
export function parseKubernetesRequest(execInfo: string | undefined): KubernetesRequest {
  if (!execInfo) return { apiVersion: `${GROUP}/v1`, urls: [] };
  const { apiVersion, spec } = parseObject(execInfo);
  if (apiVersion !== `${GROUP}/v1` && apiVersion !== `${GROUP}/v1beta1`) {
    const shown = excerpt(String(apiVersion), 80);
    throw new OAuthProfileError('usage', `the client requests credentials of the version ${shown}`, {
      hint: `set apiVersion: ${GROUP}/v1 in the user entry of the kubeconfig`,
    });
  }
  const server = (spec as { cluster?: { server?: unknown } | null } | null | undefined)?.cluster?.server;
  if (server === undefined) return { apiVersion, urls: [] };
  const urls = typeof server === 'string' ? parseRequestUrls(server) : [];
  if (urls.length > 0) return { apiVersion, urls };
  throw new OAuthProfileError(
    'usage',
    `the server of the cluster, ${excerpt(String(server), 80)}, is not a plain URL`,
    {
      hint: 'write cluster.server in the kubeconfig as https://host:port, without credentials',
    },
  );
}

/** Formats an `ExecCredential`. */
export function formatKubernetesResponse({ apiVersion }: KubernetesRequest, token: ToolToken): string {
  const status = { token: token.token, expirationTimestamp: expiryTime(token) };
  return JSON.stringify({ apiVersion, kind: 'ExecCredential', status });
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    throw new OAuthProfileError('usage', 'KUBERNETES_EXEC_INFO is not JSON', { hint: 'remove it, or run kubectl' });
  }
}
