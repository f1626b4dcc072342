import { closestMatch } from '../../config/suggestions.ts';
import { findRecipe, formatRecipe, type Recipe, recipes } from '../../providers/catalogue/recipes.ts';
import type { Provider } from '../../providers/provider.ts';
import { findProvider, loadCatalogue, providerTypes } from '../../providers/registry.ts';
import { usageError } from '../args.ts';
import type { Context } from '../context.ts';
import { alignColumns } from '../style.ts';

/** `providers [name]`: lists the types of profiles and the recipes for custom profiles, or describes one. */
export async function runProviders({ args, terminal }: Context): Promise<number> {
  await loadCatalogue();
  const [name] = args.positionals;
  const isJson = args.switches.has('json');
  if (name === undefined) {
    const types = [...new Set(providerTypes.flatMap((type) => findProvider(type) ?? []))].map(describeType);
    if (isJson) terminal.stdoutJson({ providers: types, recipes });
    else terminal.stdout(formatList(types));
    return 0;
  }
  const provider = findProvider(name);
  const recipe = findRecipe(name);
  if (provider !== undefined) {
    const description = describeType(provider);
    if (isJson) terminal.stdoutJson({ providers: [description], recipes: [] });
    else terminal.stdout(formatDescription(description));
  } else if (recipe !== undefined) {
    if (isJson) terminal.stdoutJson({ providers: [], recipes: [recipe] });
    else terminal.stdout(describeRecipe(recipe));
  } else {
    const match = closestMatch(name, [...providerTypes, ...recipes.map((one) => one.name)]);
    const other = 'list the providers with oauth-profile providers; for another server use type oidc or custom';
    throw usageError(`unknown provider "${name}"`, match === undefined ? other : `did you mean ${match}?`);
  }
  return 0;
}

/** The profile shows what is needed, and what is not confirmed. */
function describeRecipe(recipe: Recipe): string {
  const { name } = recipe;
  const lines = formatRecipe(recipe, name.replaceAll('-', '_')).map((line) => `  ${line}`);
  return [`${name} has no type: oauth-profile init ${name} writes this profile`, '', ...lines, ''].join('\n');
}

/** A type as `--json` prints it. */
function describeType({ type, about, tokenUrl, usesIssuer, variables = {}, required, login, clientAuth }: Provider) {
  const own = usesIssuer ? ['issuer'] : tokenUrl === undefined ? ['url'] : [];
  const inUrl = Object.keys(variables).filter((name) => variables[name]?.default === undefined);
  // Their metadata or their options name the endpoints of a login.
  const hasLogin = login !== undefined || tokenUrl === undefined;
  const grant = required[hasLogin ? 'refresh_token' : 'client_credentials'] ?? [];
  const fields = new Set([...own, ...inUrl, 'client_id', ...grant, ...(login?.requiredFields ?? [])]);
  // A login supplies it.
  fields.delete('refresh_token');
  return {
    type,
    name: about?.name ?? type,
    tokenUrl: tokenUrl ?? null,
    login: hasLogin,
    device: login?.deviceAuthorizationUrl !== undefined || tokenUrl === undefined,
    revocation: login?.revocationUrl !== undefined || tokenUrl === undefined,
    /** Fields that a login requires, or a machine if users cannot log in. */
    fields: [...fields],
    /** Fields of the URL, with their meanings. */
    variables: Object.fromEntries(
      Object.entries(variables).map(([name, { description, default: byDefault }]) => [
        name,
        byDefault === undefined ? description : `${description} (default ${byDefault})`,
      ]),
    ),
    required,
    clientAuth: clientAuth === 'passthrough' ? null : clientAuth,
    notes: about?.notes ?? [],
    documentation: about?.documentation ?? null,
  };
}

type Description = ReturnType<typeof describeType>;

function formatList(descriptions: readonly Description[]): string {
  const rows = descriptions.map(({ type, fields, login, device }) => [
    type,
    fields.join(', '),
    login ? (device ? 'login with a browser or a code' : 'login with a browser') : 'no login',
  ]);
  const names = recipes.map(({ name }) => name).join(' ');
  const table = alignColumns([['type', 'requires', 'users'], ...rows]).join('\n');
  return `${table}\n\nFor these, oauth-profile init <name> writes a custom profile:\n  ${names}\n`;
}

function formatDescription(description: Description): string {
  const { type, name, tokenUrl, variables, required, clientAuth, notes, documentation, device, revocation } =
    description;
  const rows = [
    ['type', type],
    ['token endpoint', tokenUrl ?? (description.fields.includes('issuer') ? 'from the metadata of issuer' : 'url')],
    ...Object.entries(variables),
    ...Object.entries(required).map(([grant, fields]) => [grant, `requires ${fields.join(', ')}`]),
    ...(clientAuth === null ? [] : [['client authentication', clientAuth]]),
    ['login with a device code', device ? 'yes' : 'no'],
    ['logout --revoke', revocation ? 'yes' : 'no'],
    ...(documentation === null ? [] : [['documentation', documentation]]),
  ];
  const lines = [name, ...alignColumns(rows).map((line) => `  ${line}`), ...notes.map((note) => `- ${note}`)];
  return `${lines.join('\n')}\n`;
}
