import { closestMatch } from '../../config/suggestions.ts';
import type { Provider } from '../../providers/provider.ts';
import { findProvider, loadCatalogue, providerTypes } from '../../providers/registry.ts';
import { usageError } from '../args.ts';
import type { Context } from '../context.ts';
import { alignColumns } from '../style.ts';

/** `providers [type]`: lists the types of profiles, or describes one. */
export async function runProviders({ args, terminal }: Context): Promise<number> {
  await loadCatalogue();
  const [type] = args.positionals;
  const providers = new Set(providerTypes.flatMap((one) => findProvider(one) ?? []));
  const found = type === undefined ? undefined : findProvider(type);
  if (type !== undefined && found === undefined) {
    const match = closestMatch(type, providerTypes);
    const other = 'list the types with oauth-profile providers; for another server use type oidc or custom';
    throw usageError(`unknown type "${type}"`, match === undefined ? other : `did you mean ${match}?`);
  }
  const descriptions = (found === undefined ? [...providers] : [found]).map(describe);
  if (args.switches.has('json')) terminal.stdoutJson({ providers: descriptions });
  else if (found === undefined) terminal.stdout(formatList(descriptions));
  else terminal.stdout(descriptions.map(formatDescription).join(''));
  return 0;
}

/** A type as `--json` prints it. */
function describe({ type, about, tokenUrl, usesIssuer, variables = {}, required, login, clientAuth }: Provider) {
  const own = usesIssuer ? ['issuer'] : tokenUrl === undefined ? ['url'] : [];
  const fields = Object.entries(variables).filter(([, { default: byDefault }]) => byDefault === undefined);
  return {
    type,
    name: about?.name ?? type,
    tokenUrl: tokenUrl ?? null,
    login: login !== undefined || tokenUrl === undefined,
    // Their metadata or their options name the endpoints.
    device: login?.deviceAuthorizationUrl !== undefined || tokenUrl === undefined,
    revocation: login?.revocationUrl !== undefined || tokenUrl === undefined,
    fields: [...own, ...fields.map(([name]) => name)],
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

type Description = ReturnType<typeof describe>;

function formatList(descriptions: readonly Description[]): string {
  const rows = descriptions.map(({ type, fields, login, device }) => [
    type,
    ['client_id', ...fields].join(', '),
    login ? (device ? 'login with a browser or a code' : 'login with a browser') : 'no login',
  ]);
  return `${alignColumns([['type', 'requires', 'users'], ...rows]).join('\n')}\n`;
}

function formatDescription(description: Description): string {
  const { type, name, tokenUrl, variables, required, clientAuth, notes, documentation, device, revocation } =
    description;
  const rows = [
    ['type', type],
    ['token endpoint', tokenUrl ?? (description.fields[0] === 'issuer' ? 'from the metadata of issuer' : 'url')],
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
