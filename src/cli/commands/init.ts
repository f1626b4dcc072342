import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { closestMatch } from '../../config/suggestions.ts';
import { OAuthProfileError } from '../../errors.ts';
import type { Provider } from '../../providers/provider.ts';
import { findProvider, loadCatalogue, providerTypes } from '../../providers/registry.ts';
import { usageError } from '../args.ts';
import type { Context } from '../context.ts';

const FILE = 'oauth-profiles.yaml';
const SCOPES = 'Scopes that your API requires, separated by spaces';

/** `init`: writes a commented profile whose values are read from environment variables. */
export async function runInit({ args, terminal, environment }: Context): Promise<number> {
  const type = args.values.get('type')?.[0] ?? '';
  await loadCatalogue();
  const provider = findProvider(type);
  if (provider === undefined) {
    const match = closestMatch(type, providerTypes);
    throw usageError(
      type === '' ? 'missing flag: --type' : `unknown --type "${type}"`,
      match === undefined
        ? 'write --type with a type that oauth-profile providers lists'
        : `did you mean --type ${match}?`,
    );
  }
  const name = args.values.get('name')?.[0] ?? provider.type;
  if (!/^[A-Za-z_]\w*$/.test(name))
    throw usageError('invalid --name', 'use letters, digits and _, such as --name graph');
  const isForUser = args.switches.has('user') || !supportsMachines(provider);
  if (isForUser && provider.login === undefined && provider.tokenUrl !== undefined)
    throw usageError(`${provider.type} has no login for users`, 'omit --user');
  writeNewFile(join(environment.cwd, FILE), profileText(provider, name, isForUser));
  const next = isForUser ? `oauth-profile login ${name}` : `oauth-profile token ${name}`;
  terminal.stdout(`wrote ${FILE}\nnext: set the variables that it names, then run oauth-profile check and ${next}\n`);
  return 0;
}

function supportsMachines({ required, tokenUrl, unsupportedGrants = [] }: Provider): boolean {
  if (tokenUrl !== undefined && required['client_credentials'] === undefined) return false;
  return !unsupportedGrants.some(({ grant, tenants }) => grant === 'client_credentials' && tenants === undefined);
}

function profileText(provider: Provider, name: string, isForUser: boolean): string {
  const prefix = name.toUpperCase();
  const lines: string[] = [`type: ${provider.type}`];
  const add = (field: string, comment: string): void => {
    lines.push(`# ${comment}`, `${field}: \${env:${prefix}_${field.toUpperCase()}}`);
  };
  if (provider.tokenUrl === undefined && !provider.usesIssuer) add('url', 'Token endpoint');
  if (provider.usesIssuer) add('issuer', 'Issuer of the server, such as https://login.example.com');
  for (const [field, variable] of Object.entries(provider.variables ?? {})) {
    if (variable.default === undefined) add(field, `Set it to ${variable.description}`);
    else lines.push(`# ${field}: ${variable.default}`);
  }
  add('client_id', 'Client ID of the application');
  const needsSecret = !isForUser || provider.required['refresh_token']?.includes('client_secret');
  if (needsSecret) add('client_secret', 'Client secret. Never write it into this file');
  if (!isForUser) lines.push('# The application itself gets the token, not a user', 'grant_type: client_credentials');
  const format = provider.valueHints?.find(({ grant, field }) => field === 'scope' && grant === 'client_credentials');
  if (!isForUser && format !== undefined) add('scope', `Set it to ${format.description}`);
  else if (isForUser && provider.login?.requiredFields?.includes('scope')) add('scope', SCOPES);
  else lines.push(`# ${SCOPES}`, '# scope: read write');
  if (isForUser && provider.login === undefined && !provider.usesIssuer)
    lines.push('options:', '  # Page where users log in', `  authorization_url: \${env:${prefix}_AUTHORIZATION_URL}`);
  return [
    '# yaml-language-server: $schema=./node_modules/oauth-profile/profiles.schema.json',
    '# Values are read from environment variables, so that this file can be committed.',
    `${name}:`,
    ...lines.map((line) => `  ${line}`),
    '',
  ].join('\n');
}

/** Never overwrites a file. */
function writeNewFile(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw usageError(`${FILE} exists already`, 'add the profile to it, or use another directory');
    throw new OAuthProfileError('data_invalid', `cannot write ${FILE} (${code})`, { hint: 'check the directory' });
  }
}
