import type { ProviderInstallation } from '../providers/provider.ts';
import type { ParsedProfile } from './parse-profile.ts';
import { type Field, INSTALLATION_ID, type InstallationRequest } from './profile.ts';
import type { ProfileDraft } from './profile-draft.ts';
import { isSecure, parseStrictUrl } from './url.ts';

/** Where and how the token of an installation is requested. */
interface SelectedInstallation {
  readonly url: URL;
  readonly request: InstallationRequest;
  /** The fields that are part of the body. */
  readonly fields: Field[];
}

/** Reads the fields of a profile for an installation. Adds an issue for each that is missing or invalid; `undefined` if there are any. */
export function selectInstallation(
  draft: ProfileDraft,
  { apiUrls, tokenPath, lookupPath }: ProviderInstallation,
  { provider, options }: Pick<ParsedProfile, 'provider' | 'options'>,
): SelectedInstallation | undefined {
  const { name } = draft;
  const addIssue = (field: string, message: string, hint: string): void => {
    if (!draft.hasIssue(field)) draft.addIssue(field, message, hint);
  };
  const issuer = (draft.has('client_id') ? draft.fields.get('client_id') : draft.fields.get('app_id'))?.value;
  if (!issuer)
    addIssue('client_id', 'is missing', `set ${name}.client_id to the client ID of the app, or ${name}.app_id`);
  if (options.key === undefined)
    addIssue('options.key_file', 'is missing', `set ${name}.options.key_file to a private key of the app (PEM)`);
  const id = draft.getText('installation_id');
  if (id !== undefined && !/^\d{1,20}$/.test(id))
    addIssue('installation_id', 'is not a number', 'copy it from the URL of the settings of the installation');
  const repository = draft.getText('repository');
  // Part of a URL.
  if (id === undefined && !/^[\w-][\w.-]*\/[\w-][\w.-]*$/.test(repository ?? ''))
    addIssue('repository', 'is not owner/name', `set ${name}.repository such as acme/api, or ${name}.installation_id`);
  const host = draft.getText('host') ?? provider?.variables?.['host']?.default ?? '';
  const pattern = provider?.variables?.['host']?.pattern;
  if (pattern?.test(host) === false)
    addIssue('host', 'is not a host name', `set ${name}.host such as github.example.com`);
  const root = draft.getText('url') ?? apiUrls.find((one) => one.host.test(host))?.url.replace('{host}', host) ?? '';
  const resolve = (path: string): URL | string => parseStrictUrl(root.replace(/\/$/, '') + path);
  const url = resolve(tokenPath.replace('{installation_id}', id ?? INSTALLATION_ID));
  const lookupUrl = id === undefined ? resolve(lookupPath.replace('{repository}', repository ?? '')) : undefined;
  const isUsable = url instanceof URL && (options.allowHttp || isSecure(url));
  if (!isUsable || typeof lookupUrl === 'string')
    addIssue('url', 'is not the https: URL of the API', `set ${name}.url such as https://github.example.com/api/v3`);
  const fields = [...draft.fields.values()].filter(({ name: field }) => /^(?:repositories|permissions)$/.test(field));
  const body = parseBody(draft, addIssue);
  if (!issuer || !isUsable || typeof lookupUrl === 'string' || draft.issues.length > 0) return undefined;
  if (lookupUrl !== undefined) draft.addNote(`the id of the installation is first read from ${lookupUrl.href}`);
  return { url, fields, request: { issuer, lookupUrl, body } };
}

/** `repositories: api web` and `permissions: contents:read issues:write`. */
function parseBody(draft: ProfileDraft, addIssue: (field: string, message: string, hint: string) => void): string {
  const words = (field: string): string[] =>
    draft
      .getText(field)
      ?.split(/[\s,]+/)
      .filter(Boolean) ?? [];
  const repositories = words('repositories');
  const permissions = words('permissions').map((word) => /^([a-z_]+)[:=](read|write|admin)$/.exec(word));
  if (permissions.includes(null))
    addIssue('permissions', 'is not a list such as contents:read issues:write', `correct ${draft.name}.permissions`);
  const granted = permissions.map((match) => [match?.[1], match?.[2]]);
  if (repositories.length + granted.length === 0) return '';
  return JSON.stringify({
    ...(repositories.length > 0 && { repositories }),
    ...(granted.length > 0 && { permissions: Object.fromEntries(granted) }),
  });
}
