import type { Provider } from '../providers/provider.ts';
import { isLoopback } from './loopback.ts';
import type { ProfileDraft } from './profile-draft.ts';
import { InvalidUrlError, parseStrictUrl } from './strict-url.ts';

/** The token endpoint: `<profile>.url`, or the provider's with the tenant in it. */
export function selectTokenUrl(
  draft: ProfileDraft,
  provider: Provider,
  grant: string | undefined,
  allowHttp: boolean,
): URL | undefined {
  const own = draft.text('url');
  if (own !== undefined) return checkedUrl(draft, own, allowHttp);
  // A url that could not be read must not fall back to the provider's own.
  if (draft.hasIssue('url')) return undefined;
  if (provider.tokenUrl === undefined) {
    draft.addIssue('url', 'is missing', `set ${draft.name}.url to the address of the token endpoint`);
    return undefined;
  }
  if (provider.tenant === undefined) return new URL(provider.tokenUrl);
  const tenant = draft.text('tenant_id');
  if (tenant === undefined || !isTenant(draft, provider, tenant, grant)) return undefined;
  try {
    return parseStrictUrl(provider.tokenUrl.replace('{tenant_id}', () => tenant));
  } catch (error) {
    if (!(error instanceof InvalidUrlError)) throw error;
    // What has the right form may be no part of a host name all the same.
    draft.addIssue('tenant_id', 'cannot be part of the token URL', `set it to ${provider.tenant.form}`);
    return undefined;
  }
}

/** Checked before it enters a URL: in a host name a wrong tenant would send the credentials elsewhere. */
function isTenant(draft: ProfileDraft, { tenant }: Provider, value: string, grant: string | undefined): boolean {
  if (tenant === undefined) return true;
  if (!tenant.pattern.test(value)) {
    draft.addIssue('tenant_id', 'cannot be part of the token URL', `set it to ${tenant.form}`);
    return false;
  }
  const notFor = tenant.unsupported?.find((one) => one.grant === grant)?.tenants;
  if (notFor?.includes(value.toLowerCase()) !== true) return true;
  draft.addIssue('tenant_id', `is ${value}, which does not serve the grant ${grant}`, 'set it to your own tenant');
  return false;
}

function checkedUrl(draft: ProfileDraft, text: string, allowHttp: boolean): URL | undefined {
  try {
    const url = parseStrictUrl(text);
    if (url.protocol === 'https:' || allowHttp || isLoopback(url.hostname)) return url;
    draft.addIssue(
      'url',
      'is an http: address, so secrets would travel unencrypted',
      `use https:, or set ${draft.name}.options.allow_http: true if the network is yours`,
    );
  } catch (error) {
    if (!(error instanceof InvalidUrlError)) throw error;
    draft.addIssue('url', error.message, 'write https://host/path');
  }
  return undefined;
}
