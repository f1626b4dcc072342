import { nearest } from '../data/nearest.ts';
import { type Outside, Resolver } from '../data/resolve.ts';
import { isCompound, isEmpty, textOf, type Value } from '../data/value.ts';
import { profileOf, type Source, type Variable, type Variables, whereOf } from '../data/variables.ts';
import { type Fault, InvalidProfileError, OAuthProfileError } from '../errors.ts';
import type { ClientAuth, Provider } from '../providers/provider.ts';
import { findProvider, providerTypes } from '../providers/registry.ts';
import { isLoopback } from '../secret/loopback.ts';
import { printable } from '../secret/printable.ts';
import { Secret } from '../secret/secret.ts';
import { isSecretName } from '../secret/secret-names.ts';
import type { BasicPair, Field, Profile } from './profile.ts';
import { type OptionValue, type ReadOptions, readOptions } from './read-options.ts';
import { foreignGrant, type SelectedGrant, selectGrant } from './select-grant.ts';
import { strictUrl, UrlProblem } from './token-url.ts';

/** What reading a profile needs of the outside world. */
export interface ProfileOutside extends Outside {
  /** The text of a file that an option names, `undefined` if it cannot be read. */
  readFile(path: string, source: Source): string | undefined;
}

/** Turns a profile's variables into a checked {@link Profile}, or throws one error that names every fault. */
export function readProfile(name: string, variables: Variables, outside: ProfileOutside): Profile {
  return new ProfileReader(name, variables, outside).read();
}

/** The names of all profiles that say what they are. */
export function profileNames(variables: Variables): string[] {
  return [...variables.names()].filter((name) => /.\.type$/.test(name)).map((name) => name.slice(0, -'.type'.length));
}

const NOT_SENT = new Set(['type', 'url', 'tenant_id']);
const NEVER_SENT = new Set(['type', 'url']);
const KNOWN_FIELDS = [
  'type',
  'url',
  'tenant_id',
  'grant_type',
  'client_id',
  'client_secret',
  'username',
  'password',
  'refresh_token',
  'scope',
  'audience',
  'resource',
  'redirect_uri',
];

class ProfileReader {
  readonly #faults: Fault[] = [];
  readonly #notes: string[] = [];
  readonly #fields = new Map<string, Field>();
  readonly #options = new Map<string, OptionValue>();
  readonly #basic = new Map<string, Field>();
  readonly #resolver: Resolver;

  constructor(
    readonly name: string,
    readonly variables: Variables,
    readonly outside: ProfileOutside,
  ) {
    this.#resolver = new Resolver(variables, outside);
  }

  read(): Profile {
    this.#collect();
    const provider = this.#provider();
    const { clientAuth: askedAuth, allowHttp, options } = this.#readOptions(provider);
    const basic = this.#basicPair(askedAuth);
    const grant = provider && this.#grant(provider);
    const clientAuth = this.#clientAuth(provider, askedAuth, basic);
    const url = provider && this.#url(provider, grant?.grant, allowHttp);
    if (provider !== undefined) {
      this.#require(provider, grant?.grant, clientAuth, basic);
      if (clientAuth === 'private_key_jwt' && !this.#options.has('key_file')) {
        this.#fault('options.key_file', 'is missing', 'set it to a private key file (PEM or JWK)');
      }
    }
    if (this.#faults.length > 0 || provider === undefined || url === undefined) {
      throw new InvalidProfileError(this.name, this.#faults);
    }
    const fields = this.#sentFields(provider, grant);
    this.#noteNearMisses(provider);
    return {
      name: this.name,
      provider,
      url,
      grant: grant?.grant,
      clientAuth,
      basic,
      fields,
      options,
      notes: this.#notes,
    };
  }

  #fault(field: string, message: string, advice?: string): void {
    const variable = `${this.name}.${field}`;
    const found = this.variables.get(variable);
    this.#faults.push({ variable, message, advice, where: found && whereOf(found) });
  }

  /** Sorts the profile's variables into fields, options and the Basic pair. */
  #collect(): void {
    const contested = this.variables.contested(this.name);
    let found = false;
    for (const variable of this.variables) {
      if (!variable.name.startsWith(this.name) || variable.name[this.name.length] !== '.') continue;
      const field = variable.name.slice(this.name.length + 1);
      if (profileOf(variable.name) !== this.name) {
        this.#notes.push(`${variable.name} belongs to profile ${profileOf(variable.name)} and is not sent`);
        continue;
      }
      found = true;
      if (contested === undefined) this.#sort(field, variable);
    }
    if (!found) throw this.#notFound();
    if (contested !== undefined) {
      throw new InvalidProfileError(this.name, [
        {
          variable: this.name,
          message: `stands in both ${contested}`,
          advice: 'rename one of the two profiles, or remove one: a working folder must not change a profile of yours',
        },
      ]);
    }
  }

  #notFound(): OAuthProfileError {
    const names = profileNames(this.variables);
    const near = nearest(this.name, names);
    const known = names.length === 0 ? 'no profile is defined' : `profiles are ${names.join(', ')}`;
    return new OAuthProfileError('profile_not_found', `there is no profile ${printable(this.name)}`, {
      advice:
        near === undefined
          ? `define ${printable(this.name)}.type and its fields in oauth-profiles.yaml, or in a file given with --data (${known})`
          : `did you mean ${near}?`,
    });
  }

  #sort(field: string, variable: Variable): void {
    try {
      const value = this.#resolver.resolve(variable);
      if (field.startsWith('options.')) this.#options.set(field.slice('options.'.length), { variable, value });
      else if (field.startsWith('basic.')) this.#basic.set(field, this.#toField(field, value, variable));
      else this.#fields.set(field, this.#toField(field, value, variable));
    } catch (error) {
      if (!(error instanceof OAuthProfileError)) throw error;
      this.#fault(field, error.message, error.advice);
    }
  }

  #toField(field: string, value: Value, variable: Variable): Field {
    const text = textOfField(field, value);
    const secret = typeof text === 'string' && isSecretName(field) ? new Secret(text) : text;
    const wellFormed =
      typeof secret === 'string' ? secret.isWellFormed() : secret.test((clear) => clear.isWellFormed());
    if (!wellFormed) {
      throw new OAuthProfileError('profile_invalid', 'is not well-formed Unicode', {
        advice: 'write it as UTF-8 text',
      });
    }
    return { name: field, value: secret, source: whereOf(variable) };
  }

  #has(field: string): boolean {
    return !isEmpty(this.#fields.get(field)?.value);
  }

  /** A field's text; what decides where a request goes is never a secret. */
  #text(field: string): string | undefined {
    const value = this.#fields.get(field)?.value;
    return typeof value === 'string' && value !== '' ? value : undefined;
  }

  #provider(): Provider | undefined {
    const type = this.#text('type');
    if (type === undefined) {
      // A fault of its own reference was reported already.
      if (this.variables.get(`${this.name}.type`) === undefined || this.#fields.has('type')) {
        const near = nearest(`${this.name}.type`, this.variables.names());
        this.#fault(
          'type',
          'is missing',
          near === undefined
            ? `set it to one of ${providerTypes.join(', ')}`
            : `${near} is there: did you mean ${this.name}.type?`,
        );
      }
      return undefined;
    }
    const provider = findProvider(type);
    if (provider === undefined) {
      const near = nearest(type, providerTypes);
      const advice =
        near?.toLowerCase() === type.toLowerCase()
          ? `types are case-sensitive: did you mean ${near}?`
          : near === undefined
            ? `types are ${providerTypes.join(', ')}`
            : `did you mean ${near}?`;
      this.#fault('type', `is ${printable(type)}, which is no known type`, advice);
    }
    return provider;
  }

  #readOptions(provider: Provider | undefined): ReadOptions {
    return readOptions(
      this.#options,
      provider,
      (variable, message, advice) => this.#fault(variable.name.slice(this.name.length + 1), message, advice),
      (path, variable) => this.outside.readFile(path, variable.source),
    );
  }

  #basicPair(asked: ClientAuth | undefined): BasicPair | undefined {
    if (this.#basic.size === 0) return undefined;
    const [user, password] = [this.#basic.get('basic.user'), this.#basic.get('basic.password')];
    for (const name of this.#basic.keys()) {
      if (name !== 'basic.user' && name !== 'basic.password') {
        this.#fault(name, 'is not known', 'a Basic header takes basic.user and basic.password');
      }
    }
    if (user === undefined) this.#fault('basic.user', 'is missing beside basic.password', 'set it');
    if (password === undefined) {
      this.#fault('basic.password', 'is missing beside basic.user', 'set it; it may be empty');
    }
    if (asked !== undefined && asked !== 'basic' && asked !== 'basic_raw') {
      this.#fault(
        'options.client_auth',
        `is ${asked}, while basic.user asks for a Basic header`,
        'remove one of the two: a client authenticates in one way',
      );
    }
    return user && password && { user, password };
  }

  #grant(provider: Provider): SelectedGrant | undefined {
    const named = this.#text('grant_type');
    if (named !== undefined) return { grant: named, reason: this.#fields.get('grant_type')?.source ?? '' };
    return selectGrant(provider, this.#text('type') ?? '', (field) => this.#has(field));
  }

  #clientAuth(provider: Provider | undefined, asked: ClientAuth | undefined, basic: BasicPair | undefined): ClientAuth {
    if (basic !== undefined) return asked === 'basic_raw' ? 'basic_raw' : 'basic';
    if (asked !== undefined) return asked;
    if (provider === undefined) return 'as_given';
    const withoutSecret = provider.clientAuthWithoutSecret;
    return withoutSecret !== undefined && !this.#has('client_secret') ? withoutSecret : provider.clientAuth;
  }

  #url(provider: Provider, grant: string | undefined, allowHttp: boolean): URL | undefined {
    const own = this.#text('url');
    if (own !== undefined) return this.#checkedUrl('url', own, allowHttp);
    if (provider.tokenUrl === undefined) {
      if (!this.#faulty('url')) this.#fault('url', 'is missing', 'set it to the address of the token endpoint');
      return undefined;
    }
    if (provider.tenant === undefined) return new URL(provider.tokenUrl);
    const { pattern, form, notFor } = provider.tenant;
    const tenant = this.#text('tenant_id');
    if (tenant === undefined) {
      this.#missing('tenant_id', `set it to ${form}`);
      return undefined;
    }
    if (!pattern.test(tenant)) {
      this.#fault('tenant_id', 'cannot be part of the token URL', `set it to ${form}`);
      return undefined;
    }
    if (grant !== undefined && notFor?.[grant]?.includes(tenant.toLowerCase())) {
      this.#fault('tenant_id', `is ${tenant}, which does not serve the grant ${grant}`, 'set it to your own tenant');
      return undefined;
    }
    return this.#checkedUrl(
      'tenant_id',
      provider.tokenUrl.replace('{tenant_id}', () => tenant),
      false,
    );
  }

  #checkedUrl(field: string, text: string, allowHttp: boolean): URL | undefined {
    try {
      const url = strictUrl(text);
      if (url.protocol === 'https:' || allowHttp || isLoopback(url.hostname)) return url;
      this.#fault(
        field,
        'is an http: address, so secrets would travel unencrypted',
        `use https:, or set ${this.name}.options.allow_http: true if the network is yours`,
      );
    } catch (error) {
      if (!(error instanceof UrlProblem)) throw error;
      this.#fault(field, error.message, 'write https://host/path');
    }
    return undefined;
  }

  #require(provider: Provider, grant: string | undefined, clientAuth: ClientAuth, basic: BasicPair | undefined): void {
    const required = new Set(grant === undefined ? [] : provider.required[grant]);
    if (clientAuth === 'basic' || clientAuth === 'basic_raw') required.add('client_id').add('client_secret');
    if (clientAuth === 'private_key_jwt') required.add('client_id');
    if (clientAuth === 'private_key_jwt' || clientAuth === 'none') required.delete('client_secret');
    if (basic !== undefined) {
      required.delete('client_id');
      required.delete('client_secret');
    }
    for (const field of required) {
      // An empty secret is a value where everything is sent as given.
      if (this.#has(field) || (provider.defaultGrant === undefined && this.#fields.has(field))) continue;
      this.#missing(field, `set ${this.name}.${field}`, grant);
    }
  }

  #faulty(field: string): boolean {
    return this.#faults.some((fault) => fault.variable === `${this.name}.${field}`);
  }

  #missing(field: string, advice: string, grant?: string): void {
    if (this.#faulty(field)) return;
    const strangers = [...this.#fields.keys()].filter((name) => !KNOWN_FIELDS.includes(name));
    const near = nearest(field, strangers);
    const needed = grant === undefined ? 'is missing' : `is missing; the grant ${grant} needs it`;
    const machine =
      grant === 'password' && this.#has('client_id') && this.#has('client_secret') && !this.#has('username');
    this.#fault(
      field,
      needed,
      near !== undefined
        ? `${this.name}.${near} is there: did you mean ${this.name}.${field}?`
        : machine
          ? `${advice}, or set ${this.name}.grant_type: client_credentials to sign in as the application itself`
          : advice,
    );
  }

  #sentFields(provider: Provider, grant: SelectedGrant | undefined): Field[] {
    const asGiven = provider.defaultGrant === undefined;
    const sent: Field[] = [];
    if (grant !== undefined) sent.push({ name: 'grant_type', value: grant.grant, source: grant.reason });
    for (const field of this.#fields.values()) {
      if (field.name === 'grant_type' && grant !== undefined) continue;
      if ((asGiven ? NEVER_SENT : NOT_SENT).has(field.name)) continue;
      if (!asGiven) {
        if (isEmpty(field.value)) continue;
        const owner = grant && foreignGrant(field.name, grant.grant);
        if (owner !== undefined) {
          this.#notes.push(`${this.name}.${field.name} belongs to the grant ${owner} and is not sent`);
          continue;
        }
      }
      sent.push(field);
    }
    if (grant?.grant === 'password') {
      this.#notes.push(
        'the password grant is deprecated (RFC 9700 §2.4) and fails with multi-factor authentication: prefer a refresh token or client_credentials',
      );
    }
    return sent;
  }

  /** A further field is sent, whatever its name; one that looks like a known field misspelt deserves a word. */
  #noteNearMisses(provider: Provider): void {
    if (provider.defaultGrant === undefined) return;
    for (const name of this.#fields.keys()) {
      if (KNOWN_FIELDS.includes(name)) continue;
      const near = nearest(
        name,
        KNOWN_FIELDS.filter((known) => !this.#fields.has(known)),
      );
      if (near !== undefined)
        this.#notes.push(`${this.name}.${name} is sent as it is: did you mean ${this.name}.${near}?`);
    }
  }
}

function textOfField(field: string, value: Value): string | Secret {
  if (!isCompound(value)) return textOf(value);
  const items: readonly Value[] | undefined = Array.isArray(value) ? value : undefined;
  if (field === 'scope' && items !== undefined && !items.some(isCompound)) {
    return items.map((item) => String(textOf(item as string))).join(' ');
  }
  throw new OAuthProfileError('profile_invalid', 'is a list', {
    advice: field === 'scope' ? 'list plain texts' : 'write one value',
  });
}
