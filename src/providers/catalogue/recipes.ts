/** A provider without a type of its own: `oauth-profile init <name>` writes a `custom` profile from these facts. */
export interface Recipe {
  readonly name: string;
  readonly title: string;
  /** Remarks for the head of the profile, one sentence each. */
  readonly notes?: readonly string[];
  /** Part of the URLs that the user must replace. */
  readonly placeholder?: string;
  /** Token endpoint. */
  readonly url: string;
  /** Fields in addition to url, client_id, client_secret and scope. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly scope?: string;
  /** Whether a client has no secret. Default: false. */
  readonly isPublic?: boolean;
  readonly options: Readonly<Record<string, string>>;
  /** Lines that no source confirms, by field or option: the file says so. */
  readonly unconfirmed?: Readonly<Record<string, string>>;
}

const post = { client_auth: 'client_secret_post' } as const;
const basic = { client_auth: 'client_secret_basic' } as const;

/**
 * The recipes, by name. Sources: github.com/NangoHQ/nango (providers.yaml), arctic 3.7.0, github.com/simov/grant, golang.org/x/oauth2/endpoints,
 * next-auth, github.com/hickford/git-credential-oauth, and the pages of the providers. A fact with one source only is in `unconfirmed`.
 */
export const recipes: readonly Recipe[] = [
  {
    name: 'airtable',
    title: 'Airtable',
    notes: ['A refresh replaces the refresh token.'],
    url: 'https://airtable.com/oauth2/v1/token',
    options: { ...basic, authorization_url: 'https://airtable.com/oauth2/v1/authorize' },
  },
  {
    name: 'asana',
    title: 'Asana',
    url: 'https://app.asana.com/-/oauth_token',
    scope: 'default',
    options: { ...post, authorization_url: 'https://app.asana.com/-/oauth_authorize' },
    unconfirmed: { scope: 'newer apps have scopes of their own', client_auth: 'a Basic header may work too' },
  },
  {
    name: 'bitbucket',
    title: 'Bitbucket Cloud',
    notes: ['For git, the user name is x-token-auth.'],
    url: 'https://bitbucket.org/site/oauth2/access_token',
    options: { ...basic, authorization_url: 'https://bitbucket.org/site/oauth2/authorize' },
  },
  {
    name: 'codeberg',
    title: 'Codeberg',
    url: 'https://codeberg.org/login/oauth/access_token',
    isPublic: true,
    options: { client_auth: 'none', authorization_url: 'https://codeberg.org/login/oauth/authorize' },
  },
  {
    name: 'docusign',
    title: 'DocuSign',
    notes: ['The hosts of a developer account are account-d.docusign.com.'],
    url: 'https://account.docusign.com/oauth/token',
    scope: 'signature',
    options: { ...basic, authorization_url: 'https://account.docusign.com/oauth/auth' },
    unconfirmed: { scope: 'the scope of the eSignature API' },
  },
  {
    name: 'figma',
    title: 'Figma',
    url: 'https://api.figma.com/v1/oauth/token',
    options: {
      ...basic,
      authorization_url: 'https://www.figma.com/oauth',
      refresh_url: 'https://api.figma.com/v1/oauth/refresh',
      scope_separator: 'comma',
      pkce: 'false',
    },
    unconfirmed: { pkce: 'Figma may accept a code challenge' },
  },
  {
    name: 'fitbit',
    title: 'Fitbit',
    url: 'https://api.fitbit.com/oauth2/token',
    options: {
      ...basic,
      authorization_url: 'https://www.fitbit.com/oauth2/authorize',
      revocation_url: 'https://api.fitbit.com/oauth2/revoke',
    },
    unconfirmed: { revocation_url: 'the revocation endpoint' },
  },
  {
    name: 'forgejo',
    title: 'Forgejo',
    placeholder: 'git.example.com',
    url: 'https://git.example.com/login/oauth/access_token',
    isPublic: true,
    options: { client_auth: 'none', authorization_url: 'https://git.example.com/login/oauth/authorize' },
  },
  {
    name: 'gitea',
    title: 'Gitea',
    placeholder: 'git.example.com',
    url: 'https://git.example.com/login/oauth/access_token',
    isPublic: true,
    options: { client_auth: 'none', authorization_url: 'https://git.example.com/login/oauth/authorize' },
  },
  {
    name: 'linkedin',
    title: 'LinkedIn',
    notes: [
      'not confirmed: only some apps get a refresh token; without one, users log in again when the access token expires',
    ],
    url: 'https://www.linkedin.com/oauth/v2/accessToken',
    options: { ...post, authorization_url: 'https://www.linkedin.com/oauth/v2/authorization', pkce: 'false' },
    unconfirmed: { pkce: 'one source omits the code challenge, the others do not mention it' },
  },
  {
    name: 'okta-org',
    title: 'Okta, org authorization server',
    notes: ['Tokens for the APIs of Okta itself, for a service app with a key.'],
    placeholder: 'acme',
    url: 'https://acme.okta.com/oauth2/v1/token',
    fields: { grant_type: 'client_credentials' },
    scope: 'okta.users.read',
    isPublic: true,
    options: { client_auth: 'private_key_jwt', key_file: 'okta-key.pem' },
  },
  {
    name: 'paypal',
    title: 'PayPal',
    notes: ['The host of the sandbox is api-m.sandbox.paypal.com.'],
    url: 'https://api-m.paypal.com/v1/oauth2/token',
    fields: { grant_type: 'client_credentials' },
    options: { ...basic },
    unconfirmed: { url: 'other clients use the host api.paypal.com' },
  },
  {
    name: 'reddit',
    title: 'Reddit',
    url: 'https://www.reddit.com/api/v1/access_token',
    fields: { duration: 'permanent' },
    options: {
      ...basic,
      authorization_url: 'https://www.reddit.com/api/v1/authorize',
      revocation_url: 'https://www.reddit.com/api/v1/revoke_token',
      refresh_token_reuse: 'allowed',
    },
    unconfirmed: { revocation_url: 'the revocation endpoint', refresh_token_reuse: 'refresh tokens are not replaced' },
  },
  {
    name: 'servicenow',
    title: 'ServiceNow',
    placeholder: 'acme',
    url: 'https://acme.service-now.com/oauth_token.do',
    options: { ...post, authorization_url: 'https://acme.service-now.com/oauth_auth.do' },
    unconfirmed: { client_auth: 'a Basic header may work too' },
  },
  {
    name: 'strava',
    title: 'Strava',
    url: 'https://www.strava.com/api/v3/oauth/token',
    options: { ...post, authorization_url: 'https://www.strava.com/oauth/authorize', scope_separator: 'comma' },
  },
  {
    name: 'stripe-connect',
    title: 'Stripe Connect',
    notes: ['client_secret is the secret API key of the platform.'],
    url: 'https://connect.stripe.com/oauth/token',
    options: { ...post, authorization_url: 'https://connect.stripe.com/oauth/authorize' },
    unconfirmed: { client_auth: 'the secret API key in the body' },
  },
  {
    name: 'twitch',
    title: 'Twitch',
    url: 'https://id.twitch.tv/oauth2/token',
    options: {
      ...post,
      authorization_url: 'https://id.twitch.tv/oauth2/authorize',
      device_authorization_url: 'https://id.twitch.tv/oauth2/device',
      revocation_url: 'https://id.twitch.tv/oauth2/revoke',
    },
    unconfirmed: {
      device_authorization_url: 'Twitch reports a pending login in another format, so that polling may end',
      revocation_url: 'the revocation endpoint',
    },
  },
  {
    name: 'zoho',
    title: 'Zoho',
    notes: [
      'The hosts of other regions are accounts.zoho.eu, accounts.zoho.in, accounts.zoho.com.au and so on.',
      'At most 10 access tokens are issued in 10 minutes; the next one replaces the oldest.',
    ],
    url: 'https://accounts.zoho.com/oauth/v2/token',
    fields: { access_type: 'offline', prompt: 'consent' },
    options: {
      ...post,
      authorization_url: 'https://accounts.zoho.com/oauth/v2/auth',
      revocation_url: 'https://accounts.zoho.com/oauth/v2/token/revoke',
      redirect_members: 'accounts-server',
      refresh_token_reuse: 'allowed',
    },
  },
];

/** Finds the recipe of a provider. */
export function findRecipe(name: string): Recipe | undefined {
  return recipes.find((recipe) => recipe.name === name);
}

/** The lines of the profile `name` in YAML. Values of a user are read from the environment. */
export function formatRecipe(recipe: Recipe, name: string): string[] {
  const { title, notes = [], placeholder, url, fields = {}, scope, isPublic, options, unconfirmed = {} } = recipe;
  const lines = [`# ${title}`, ...notes.map((note) => `# ${note}`), `${name}:`, '  type: custom'];
  const add = (key: string, value: string, indent = '  ', comment?: string): void => {
    if (comment !== undefined) lines.push(`${indent}# ${comment}`);
    if (unconfirmed[key] !== undefined) lines.push(`${indent}# not confirmed: ${unconfirmed[key]}`);
    lines.push(`${indent}${key}: ${value}`);
  };
  const variable = (key: string) => `\${env:${name.toUpperCase()}_${key.toUpperCase()}}`;
  add('url', url, '  ', placeholder && `Replace ${placeholder}, here and below`);
  add('client_id', variable('client_id'));
  if (!isPublic) add('client_secret', variable('client_secret'), '  ', 'Never write the secret into this file');
  for (const [key, value] of Object.entries(fields)) add(key, value);
  if (scope !== undefined) add('scope', scope);
  else lines.push('  # Scopes that your API requires, separated by spaces', '  # scope: read write');
  lines.push('  options:');
  for (const [key, value] of Object.entries(options)) add(key, value, '    ');
  return lines;
}
