import type { Resolver } from '../config/resolver.ts';
import { closestMatch } from '../config/suggestions.ts';
import { isCollection, isEmpty, toText, type Value } from '../config/value.ts';
import { locationOf, profileNameOf, type Variable, type Variables } from '../config/variables.ts';
import { InvalidProfileError, OAuthProfileError } from '../errors.ts';
import { escapeControls } from '../redaction/sanitize.ts';
import { joinStrings, Secret } from '../redaction/secret.ts';
import { displayName, isSensitiveName } from '../redaction/sensitive-names.ts';
import { KNOWN_FIELDS } from './known-fields.ts';
import type { Field } from './profile.ts';
import { ProfileDraft } from './profile-draft.ts';

/** They decide where a request goes and what it asks for. */
const SHOWN = new Set(['type', 'url', 'tenant_id', 'grant_type']);

/** Sorts a profile's variables into fields, options and the Basic pair, references followed. */
export function collectFields(name: string, variables: Variables, resolver: Resolver): ProfileDraft {
  const draft = new ProfileDraft(name, variables);
  const own: Variable[] = [];
  for (const variable of variables) {
    if (!variable.name.startsWith(name) || variable.name[name.length] !== '.') continue;
    const owner = profileNameOf(variable.name);
    if (owner === name || isReserved(variable.name.slice(name.length + 1))) own.push(variable);
    else tellForeign(draft, variable, owner ?? '');
  }
  if (own.length === 0) throw notFound(name, variables);
  refuseContested(name, variables);
  // What came with a working folder must not bend a profile that the caller brought along.
  const type = variables.get(`${name}.type`)?.source;
  const brought = type?.trust === 'given' && type.label !== '--set';
  for (const variable of own) {
    if (brought && variable.source.trust === 'directory') {
      draft.notes.push(
        `${escapeControls(displayName(variable.name, name))} of ${locationOf(variable)} is not used: the profile comes from ${type.label}`,
      );
    } else sort(draft, variable, resolver);
  }
  return draft;
}

/** A name with more dots belongs to another profile, or to a field that has parts by mistake: `client_secret: {a: b}`. */
function tellForeign(draft: ProfileDraft, variable: Variable, owner: string): void {
  const { name, variables } = draft;
  const [part = ''] = variable.name.slice(name.length + 1).split('.', 1);
  const isProfile = variables.get(`${name}.${part}.type`) !== undefined;
  // What another file holds must not spoil a profile.
  const isBeside = variables.get(`${name}.type`)?.source.label === variable.source.label;
  if (!isProfile && isBeside && KNOWN_FIELDS.includes(part)) {
    if (!draft.hasIssue(part))
      draft.addIssue(part, 'is a map', 'write one value; one with { or [ in front needs quotes', variable);
    return;
  }
  const near = isProfile ? undefined : closestMatch(part, ['options', 'basic']);
  const meant = near === undefined ? '' : `: did you mean ${name}.${near}?`;
  draft.addNote(
    `${displayName(variable.name, name)} belongs to profile ${displayName(owner, name)} and is not sent${meant}`,
  );
}

/** `options.…` and `basic.…`, however deep, are never another profile's. */
function isReserved(field: string): boolean {
  return /^(?:options|basic)\./.test(field);
}

/** The names of all profiles that say what they are. */
export function profileNames(variables: Variables): string[] {
  const ending = '.type';
  return [...variables.names()]
    .filter((name) => name.length > ending.length && name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length));
}

/** Profiles whose type is misspelt (`lab.typ`): they would go unnoticed among plain variables. */
export function untypedNames(variables: Variables): string[] {
  const typed = new Set(profileNames(variables));
  const found = new Set<string>();
  for (const name of variables.names()) {
    const owner = profileNameOf(name);
    if (owner === undefined || typed.has(owner)) continue;
    if (closestMatch(name.slice(owner.length + 1), ['type']) !== undefined) found.add(owner);
  }
  return [...found];
}

/** What to do about fields that are not indented below the name of their profile, if that is what is wrong. */
export function indentationHint(variables: Variables): string | undefined {
  const type = variables.get('type');
  if (type === undefined || !/\.ya?ml$/i.test(type.source.label)) return undefined;
  return `type stands at the left margin (${escapeControls(locationOf(type))}): indent the fields below a profile's name`;
}

function notFound(name: string, variables: Variables): OAuthProfileError {
  const names = profileNames(variables);
  const near = closestMatch(name, names);
  const shown = escapeControls(name);
  const known = names.length === 0 ? 'no profile is defined' : `profiles are ${escapeControls(names.join(', '))}`;
  const define = `define ${shown}.type and its fields in oauth-profiles.yaml, or in a file given with --data (${known})`;
  return new OAuthProfileError('profile_not_found', `there is no profile ${shown}`, {
    hint: near === undefined ? (indentationHint(variables) ?? define) : `did you mean ${near}?`,
  });
}

function refuseContested(name: string, variables: Variables): void {
  const files = variables.conflictingSources(name);
  if (files === undefined) return;
  throw new InvalidProfileError(name, [
    {
      variable: name,
      message: `stands in both ${files}`,
      hint: 'rename one of the two profiles, or remove one: a working folder must not change a profile of yours',
    },
  ]);
}

function sort(draft: ProfileDraft, variable: Variable, resolver: Resolver): void {
  const field = variable.name.slice(draft.name.length + 1);
  try {
    const value = resolver.resolve(variable);
    if (field === 'options' || field === 'basic') refuseBare(field, value);
    else if (field.startsWith('options.')) draft.options.set(field.slice('options.'.length), { variable, value });
    else if (field.startsWith('basic.')) draft.basic.set(field, toField(field, value, variable));
    else draft.fields.set(field, toField(field, value, variable));
  } catch (error) {
    if (!(error instanceof OAuthProfileError)) throw error;
    draft.addIssue(field, error.message, error.hint);
  }
}

/** `options:` with nothing below it is what is left when all options are commented out. */
function refuseBare(name: string, value: Value): void {
  if (isEmpty(value)) return;
  throw new OAuthProfileError('profile_invalid', 'has a value of its own', {
    hint: `give its parts, such as ${name === 'basic' ? 'basic.user' : 'options.timeout'}`,
  });
}

function toField(name: string, value: Value, variable: Variable): Field {
  const text = fieldText(name, value);
  const hidden = typeof text === 'string' && isSensitiveName(name) ? new Secret(text) : text;
  const wellFormed = typeof hidden === 'string' ? hidden.isWellFormed() : hidden.test((clear) => clear.isWellFormed());
  if (!wellFormed || !name.isWellFormed()) {
    throw new OAuthProfileError('profile_invalid', 'is not well-formed Unicode', { hint: 'write it as UTF-8 text' });
  }
  if (SHOWN.has(name) && hidden instanceof Secret) {
    throw new OAuthProfileError('profile_invalid', 'is made from a secret, but messages have to show it', {
      hint: 'take it from a variable whose name does not say secret, password, token or the like',
    });
  }
  return { name, value: hidden, source: locationOf(variable) };
}

/** A field holds one value; only a scope may be a list (RFC 6749 §3.3: joined by blanks). */
function fieldText(name: string, value: Value): string | Secret {
  if (!isCollection(value)) return toText(value);
  if (name === 'scope' && Array.isArray(value) && !value.some(isCollection)) {
    const texts = value.filter((item) => !isEmpty(item)).map(toText);
    return joinStrings(texts.flatMap((text, index) => (index === 0 ? [text] : [' ', text])));
  }
  throw new OAuthProfileError('profile_invalid', Array.isArray(value) ? 'is a list' : 'has parts', {
    hint: name === 'scope' ? 'list plain texts' : 'write one value',
  });
}
