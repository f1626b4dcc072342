import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { profileFileNames } from '../../config/find-profile-file.ts';
import { closestMatch } from '../../config/suggestions.ts';
import { OAuthProfileError } from '../../errors.ts';
import { findRecipe, formatRecipe, type Recipe, recipes } from '../../providers/catalogue/recipes.ts';
import { custom } from '../../providers/custom.ts';
import type { Provider } from '../../providers/provider.ts';
import { coreTypes, findProvider, loadCatalogue, providerTypes } from '../../providers/registry.ts';
import { usageError } from '../args.ts';
import type { Context } from '../context.ts';
import { findLineReader, type ReadLine } from '../read-line.ts';

const FILE = 'oauth-profiles.yaml';
const SCRIPT = 'first.yaml';
const SCOPES = 'Scopes that your API requires, separated by spaces';
const NAME = /^[A-Za-z_]\w*$/;

/** The profile to write. */
interface Choices {
  readonly provider: Provider;
  /** Facts about a provider without a type, for a custom profile. */
  readonly recipe: Recipe | undefined;
  readonly name: string;
  /** A user logs in; otherwise the application itself gets the token. */
  readonly isForUser: boolean;
}

/** `init`: writes a commented profile whose values are read from environment variables, or a script with such a profile. */
export async function runInit(context: Context): Promise<number> {
  const { args, terminal, environment } = context;
  const isScript = args.switches.has('script');
  const found = isScript ? [] : profileFileNames.filter((name) => existsSync(join(environment.cwd, name)));
  if (found.length > 0)
    throw usageError(`${found.join(' and ')} already exists`, 'add the profile to it, or use another directory');
  await loadCatalogue();
  const readLine = givenProvider(context) === undefined ? findLineReader() : undefined;
  const choices = readLine === undefined ? readFlags(context) : await promptUser(context, readLine);
  const { name, isForUser } = choices;
  if (isScript) {
    writeNewFile(environment.cwd, SCRIPT, scriptText(choices));
    terminal.stdout(`wrote ${SCRIPT}\nnext: oauth-profile run ${SCRIPT} --emulate\n`);
    return 0;
  }
  writeNewFile(environment.cwd, FILE, profileText(choices));
  const next = isForUser ? `oauth-profile login ${name}` : `oauth-profile token ${name}`;
  terminal.stdout(
    `wrote ${FILE}\nnext: set the environment variables in the file, then run oauth-profile check and ${next}\n`,
  );
  return 0;
}

/** The provider of the command line, as an argument or with `--type`. */
function givenProvider({ args }: Context): string | undefined {
  const [provider, other] = [...args.positionals, ...(args.values.get('type') ?? [])];
  if (other !== undefined) throw usageError('the provider is given twice', 'omit --type');
  return provider;
}

/** A type, or a recipe for a custom profile. */
function findChoice(name: string): Pick<Choices, 'provider' | 'recipe'> | undefined {
  const recipe = findRecipe(name);
  const provider = recipe === undefined ? findProvider(name) : custom;
  return provider && { provider, recipe };
}

function readFlags(context: Context): Choices {
  const { args } = context;
  const isScript = args.switches.has('script');
  const given = givenProvider(context) ?? (isScript ? 'custom' : '');
  const found = findChoice(given);
  if (found === undefined) {
    const match = closestMatch(given, [...providerTypes, ...recipes.map((recipe) => recipe.name)]);
    throw usageError(
      given === '' ? 'missing argument: the provider' : `unknown provider "${given}"`,
      match === undefined
        ? 'write the name of a provider that oauth-profile providers lists'
        : `did you mean oauth-profile init ${match}?`,
    );
  }
  const { provider, recipe } = found;
  if (isScript && recipe !== undefined)
    throw usageError('--script needs a type', `omit --script: oauth-profile init ${recipe.name}`);
  const name = args.values.get('name')?.[0] ?? (isScript ? 'example' : defaultName(found));
  if (!NAME.test(name)) throw usageError('invalid --name', 'use letters, digits and _, such as --name graph');
  const isForUser = recipe === undefined ? args.switches.has('user') || !supportsMachines(provider) : hasLogin(recipe);
  if (isForUser && !supportsUsers(provider)) throw usageError(`${provider.type} has no login for users`, 'omit --user');
  return { provider, recipe, name, isForUser };
}

function defaultName({ provider, recipe }: Pick<Choices, 'provider' | 'recipe'>): string {
  return recipe?.name.replaceAll('-', '_') ?? provider.type;
}

function hasLogin({ options }: Recipe): boolean {
  return options['authorization_url'] !== undefined;
}

/** Prompts for what the flags do not set. */
async function promptUser({ args, terminal, signal }: Context, readLine: ReadLine): Promise<Choices> {
  /** Repeats a question until the input is valid. Empty input is the default. */
  const prompt = async <T>(question: string, byDefault: string, parse: (text: string) => T | undefined): Promise<T> => {
    for (;;) {
      terminal.prompt(`${question}${byDefault === '' ? '' : ` [${byDefault}]`}: `);
      const value = parse((await readLine(signal)).trim() || byDefault);
      if (value !== undefined) return value;
    }
  };
  const types = coreTypes.filter((type) => findProvider(type)?.type === type);
  const isScript = args.switches.has('script');
  const parseProvider = (text: string) => (isScript && findRecipe(text) ? undefined : findChoice(text));
  const found = await prompt(`Provider (${types.join(', ')}, …)`, '', parseProvider);
  const { provider, recipe } = found;
  const given = args.values.get('name')?.[0] ?? '';
  const parseName = (text: string) => (NAME.test(text) ? text : undefined);
  const name =
    parseName(given) ?? (await prompt('Name of the profile', isScript ? 'example' : defaultName(found), parseName));
  if (recipe !== undefined) return { provider, recipe, name, isForUser: hasLogin(recipe) };
  const both = supportsMachines(provider) && supportsUsers(provider) && !args.switches.has('user') && !isScript;
  const parseUse = (text: string) => (/^(?:machine|user)$/.test(text) ? text === 'user' : undefined);
  const isForUser = both ? await prompt('Used by a machine or by a user who logs in', 'machine', parseUse) : undefined;
  return { provider, recipe, name, isForUser: isForUser ?? !supportsMachines(provider) };
}

function supportsMachines({ required, tokenUrl, unsupportedGrants = [] }: Provider): boolean {
  if (tokenUrl !== undefined && required['client_credentials'] === undefined) return false;
  return !unsupportedGrants.some(({ grant, tenants }) => grant === 'client_credentials' && tenants === undefined);
}

/** A custom provider may have a login. */
function supportsUsers({ login, tokenUrl }: Provider): boolean {
  return login !== undefined || tokenUrl === undefined;
}

const HEAD = [
  '# yaml-language-server: $schema=./node_modules/oauth-profile/profiles.schema.json',
  '# Values are read from environment variables, so that this file can be committed.',
];

function profileText({ provider, recipe, name, isForUser }: Choices): string {
  if (recipe !== undefined) return [...HEAD, ...formatRecipe(recipe, name), ''].join('\n');
  const { lines, add } = startProfile(provider, name);
  const needsSecret = !isForUser || provider.required['refresh_token']?.includes('client_secret');
  if (needsSecret) add('client_secret', 'Client secret. Never write it into this file');
  if (!isForUser) lines.push('# The application itself gets the token, not a user', 'grant_type: client_credentials');
  const format = provider.valueHints?.find(({ grant, field }) => field === 'scope' && grant === 'client_credentials');
  if (!isForUser && format !== undefined) add('scope', `Set it to ${format.description}`);
  else if (isForUser && provider.login?.requiredFields?.includes('scope')) add('scope', SCOPES);
  else lines.push(`# ${SCOPES}`, '# scope: read write');
  if (isForUser && provider.login === undefined && !provider.usesIssuer)
    lines.push(
      'options:',
      '  # Page where users log in',
      `  authorization_url: \${env:${name.toUpperCase()}_AUTHORIZATION_URL}`,
    );
  return [...HEAD, `${name}:`, ...lines.map((line) => `  ${line}`), ''].join('\n');
}

/** A script that passes with `--emulate`: without environment variables, it uses the examples. */
function scriptText({ provider, name }: Choices): string {
  const { lines, add } = startProfile(provider, name, true);
  // A refresh token needs no scope.
  if (provider.login === undefined || provider.required['refresh_token']?.includes('client_secret'))
    add('client_secret', 'Client secret. Never write it into this file', 'an example of a secret');
  if (provider.login === undefined) lines.push('grant_type: client_credentials');
  else add('refresh_token', 'Refresh token of a user', 'an example of a refresh token');
  return `# yaml-language-server: $schema=./node_modules/oauth-profile/script.schema.json
# Offline: oauth-profile run ${SCRIPT} --emulate
# For the real provider, set the environment variables and omit --emulate.
name: The provider issues a token
data:
  ${name}:
${lines.map((line) => `    ${line}\n`).join('')}steps:
  - ws.oauthProfile: [token, ${name}]
  - base.assertNotEmpty: "\${token.access_token}"
  # Call your API with the token:
  # - ws.header: [Authorization, "Bearer \${token.access_token}"]
  # - ws.get: ["https://api.example.com/me", "", me]
  # - ws.assertReturnCode: [me, 200]
`;
}

/** Returns the lines that every profile begins with, and a function that adds a field. With `hasExamples`, the references have defaults. */
function startProfile(provider: Provider, name: string, hasExamples = false) {
  const lines: string[] = [`type: ${provider.type}`];
  const add = (field: string, comment: string, example = 'example'): void => {
    const byDefault = hasExamples ? `:-${example}` : '';
    lines.push(`# ${comment}`, `${field}: \${env:${name.toUpperCase()}_${field.toUpperCase()}${byDefault}}`);
  };
  if (provider.usesIssuer) add('issuer', 'Issuer of the server', 'https://id.example.com');
  else if (provider.tokenUrl === undefined) add('url', 'Token endpoint', 'https://id.example.com/token');
  for (const [field, { description, example, default: byDefault }] of Object.entries(provider.variables ?? {})) {
    if (byDefault === undefined) add(field, `Set it to ${description}`, example);
    else lines.push(`# ${field}: ${byDefault}`);
  }
  add('client_id', 'Client ID of the application');
  return { lines, add };
}

/** Never overwrites a file. */
function writeNewFile(directory: string, file: string, text: string): void {
  try {
    writeFileSync(join(directory, file), text, { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw usageError(`${file} already exists`, 'remove it, or use another directory');
    throw new OAuthProfileError('data_invalid', `cannot write ${file} (${code})`, { hint: 'check the directory' });
  }
}
