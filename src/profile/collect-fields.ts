import type { Resolver } from '../config/resolver.ts';
import { closestMatch } from '../config/suggestions.ts';
import { isCollection, isEmpty, joinList, toText, type Value } from '../config/value.ts';
import { locationOf, profileNameOf, type Variable, type Variables } from '../config/variables.ts';
import { InvalidProfileError, OAuthProfileError } from '../errors.ts';
import { escapeControls } from '../redaction/sanitize.ts';
import { Secret } from '../redaction/secret.ts';
import { displayName, isSensitiveName } from '../redaction/sensitive-names.ts';
import { type Field, findStrayCharacters, REPEATABLE_FIELDS, testValue } from './profile.ts';
import { KNOWN_FIELDS, ProfileDraft } from './profile-draft.ts';

/** Profiles listed in a hint. */
const MAX_LISTED = 12;

/** Fields that define where a request is sent and what it requests. Messages show them, so they must not be secrets. */
const SHOWN_FIELDS = new Set(['type', 'url', 'tenant_id', 'grant_type']);

/** Resolves the variables of a profile and sorts them into fields, options and Basic credentials. */
export function collectFields(name: string, variables: Variables, resolver: Resolver): ProfileDraft {
  const draft = new ProfileDraft(name, variables);
  const own: Variable[] = [];
  for (const variable of variables.below(name)) {
    const owner = profileNameOf(variable.name);
    // Options are never part of another profile, whatever their depth.
    if (owner === name || /^(?:options|basic)\./.test(variable.name.slice(name.length + 1))) own.push(variable);
    else reportForeignVariable(draft, variable, owner ?? '');
  }
  if (own.length === 0) throw notFoundError(name, variables);
  rejectConflict(name, variables);
  // A file in the working directory must not change a profile that comes from a file given by the user.
  const typeSource = variables.get(`${name}.type`)?.source;
  const isGiven = typeSource?.trust === 'given' && typeSource.label !== '--set';
  for (const variable of own) {
    if (isGiven && variable.source.trust === 'directory') {
      draft.addNote(
        `${displayName(variable.name, name)} in ${locationOf(variable)} is ignored: the profile comes from ${typeSource.label}`,
      );
    } else addVariable(draft, variable, resolver);
  }
  for (const field of [...draft.fields.values(), ...draft.basic.values()]) {
    const problem = findStrayCharacters(field);
    if (problem !== undefined) draft.addWarning(`${displayName(`${name}.${field.name}`, name)} ${problem}`);
  }
  return draft;
}

/** Reports a name with more dots: of another profile (D10), or of a map in the place of a value: `scope: {a: b}`. */
function reportForeignVariable(draft: ProfileDraft, variable: Variable, owner: string): void {
  const { name, variables } = draft;
  const [field = ''] = variable.name.slice(name.length + 1).split('.', 1);
  const isProfile = variables.get(`${name}.${field}.type`) !== undefined;
  // Another file must not make this profile invalid.
  const isSameFile = variables.get(`${name}.type`)?.source.label === variable.source.label;
  if (!isProfile && isSameFile && KNOWN_FIELDS.includes(field)) {
    if (!draft.hasIssue(field)) {
      draft.addIssue(field, 'is a map', 'write a single value; quote it if it starts with { or [', variable);
    }
    return;
  }
  const match = isProfile ? undefined : closestMatch(field, ['options', 'basic']);
  const text = `${displayName(variable.name, name)} belongs to profile ${displayName(owner, name)} and is not sent`;
  if (match === undefined) draft.addNote(text);
  else draft.addWarning(`${text}: did you mean ${name}.${match}?`);
}

/**
 * Profiles without `type`, which `check` would not find otherwise: those with a misspelled one (`lab.typ`). If no profile
 * is found, those with any other known field.
 */
export function untypedNames(variables: Variables): string[] {
  const typed = new Set(variables.profileNames());
  const misspelled = new Set<string>();
  const others = new Set<string>();
  for (const name of variables.names()) {
    const owner = profileNameOf(name);
    if (owner === undefined || typed.has(owner)) continue;
    const field = name.slice(owner.length + 1);
    if (closestMatch(field, ['type']) !== undefined) misspelled.add(owner);
    if (KNOWN_FIELDS.includes(field) || field.startsWith('type:')) others.add(owner);
  }
  return [...(typed.size + misspelled.size > 0 ? misspelled : others)];
}

/** The hint for a YAML file in which indentation or the space after `type:` is missing, or for a file with another name. */
export function missingProfileHint(variables: Variables): string | undefined {
  for (const variable of variables) {
    const { name, value, source } = variable;
    if (!/\.ya?ml$/i.test(source.label)) continue;
    const location = escapeControls(locationOf(variable));
    if (name === 'type') return `indent the fields below the profile's name: type is not indented (${location})`;
    if (typeof value === 'string' && /^type:\S/.test(value))
      return `write a space after the colon of type (${location})`;
  }
  const { misnamed } = variables;
  return (
    misnamed && `${escapeControls(misnamed)} is not read: rename it to oauth-profiles.yaml, or pass it with --data`
  );
}

function notFoundError(name: string, variables: Variables): OAuthProfileError {
  const names = variables.profileNames();
  const match = variables.suggest(name, names);
  const shown = escapeControls(name);
  const some = escapeControls(names.slice(0, MAX_LISTED).join(', ')) + (names.length > MAX_LISTED ? ', …' : '');
  const defined = names.length === 0 ? 'no profiles are defined' : `defined profiles: ${some}`;
  const define = `define ${shown}.type and its fields in ${variables.home} (${defined})`;
  return new OAuthProfileError('profile_not_found', `profile ${shown} is not defined`, {
    hint: match === undefined ? (missingProfileHint(variables) ?? define) : `did you mean ${match}?`,
  });
}

function rejectConflict(name: string, variables: Variables): void {
  const files = variables.conflictingSources(name);
  if (files === undefined) return;
  throw new InvalidProfileError(name, [
    {
      variable: name,
      message: `is defined in both ${files}`,
      hint: 'rename or remove one of them: a directory or a script cannot override your own profile',
    },
  ]);
}

function addVariable(draft: ProfileDraft, variable: Variable, resolver: Resolver): void {
  const field = variable.name.slice(draft.name.length + 1);
  try {
    const value = resolver.resolve(variable);
    if (field === 'options' || field === 'basic') rejectValue(field, value);
    else if (field.startsWith('options.')) draft.options.set(field.slice('options.'.length), { variable, value });
    else {
      const fields = field.startsWith('basic.') ? draft.basic : draft.fields;
      fields.set(field, toField(field, value, variable, resolver));
      // A value without references is the value of the variable itself.
      if (value === variable.value) addLiteralRemarks(draft, variable);
    }
  } catch (error) {
    if (!(error instanceof OAuthProfileError)) throw error;
    // Errors of the resolver are about a reference, all others about the field itself.
    const message = error.code === 'data_invalid' ? `cannot be resolved: ${error.message}` : error.message;
    draft.addIssue(field, message, error.hint);
  }
}

/** Adds remarks on a value without references: `$NAME` and `{{name}}` are not references; secrets may be committed. */
function addLiteralRemarks(draft: ProfileDraft, { name, value, source }: Variable): void {
  if (isCollection(value)) return;
  const shown = displayName(name, draft.name);
  if (testValue(toText(value), (text) => /^\s*(?:\$[A-Za-z_]\w*|\{\{.*\}\})\s*$/s.test(text))) {
    draft.addWarning(`${shown} is sent as written: write \${env:NAME} or \${name} for a reference`);
  } else if (source.trust === 'directory' && value instanceof Secret && !isEmpty(value)) {
    draft.addNote(`${shown} is written in ${source.label}: do not commit it; use \${env:NAME} or \${file:path}`);
  }
}

/** An empty `options:` remains if all options are commented out; it is accepted. */
function rejectValue(name: string, value: Value): void {
  if (isEmpty(value)) return;
  throw new OAuthProfileError('profile_invalid', 'must not have a value of its own', {
    hint: `set its members, such as ${name === 'basic' ? 'basic.user' : 'options.timeout'}`,
  });
}

function toField(name: string, value: Value, variable: Variable, resolver: Resolver): Field {
  if (REPEATABLE_FIELDS.includes(name) && Array.isArray(value) && !value.some(isCollection)) {
    const [first, ...others] = value
      .filter((item) => !isEmpty(item))
      .map((item) => toField(name, item, variable, resolver));
    const field = first ?? toField(name, '', variable, resolver);
    return others.length === 0 ? field : { ...field, others: others.map((other) => other.value) };
  }
  const text = toFieldText(name, value);
  const wrapped = typeof text === 'string' && isSensitiveName(name) ? new Secret(text) : text;
  if (!testValue(wrapped, (plain) => plain.isWellFormed()) || !name.isWellFormed()) {
    throw new OAuthProfileError('profile_invalid', 'is not well-formed Unicode', { hint: 'save the value as UTF-8' });
  }
  if (SHOWN_FIELDS.has(name) && wrapped instanceof Secret) {
    throw new OAuthProfileError('profile_invalid', 'comes from a secret, but messages show this field', {
      hint: 'take it from a variable without secret, password or token in its name',
    });
  }
  const field = { name, value: wrapped, source: locationOf(variable) };
  return resolver.isExternal(variable) ? { ...field, external: true } : field;
}

/** The items of a `scope` list are joined with spaces (RFC 6749 §3.3). */
function toFieldText(name: string, value: Value): string | Secret {
  if (!isCollection(value)) return toText(value);
  const list = name === 'scope' ? joinList(value) : undefined;
  if (list !== undefined) return list;
  throw new OAuthProfileError('profile_invalid', Array.isArray(value) ? 'is a list' : 'is a map', {
    hint: ['scope', ...REPEATABLE_FIELDS].includes(name) ? 'list plain strings' : 'write a single value',
  });
}
