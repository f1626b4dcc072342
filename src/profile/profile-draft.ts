import { isEmpty, type Value } from '../config/value.ts';
import { locationOf, type Variable, type Variables } from '../config/variables.ts';
import type { ProfileIssue, ProfileRemarks } from '../errors.ts';
import { escapeControls } from '../redaction/sanitize.ts';
import { displayName } from '../redaction/sensitive-names.ts';
import type { Field } from './profile.ts';

/** Fields that are often misspelled. Fields with other names are valid too: only the provider knows them. */
export const KNOWN_FIELDS: readonly string[] = [
  'type',
  'url',
  'tenant_id',
  'issuer',
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
  'code',
];

/** A profile while it is parsed: its fields and options, and all issues found so far. */
export class ProfileDraft implements ProfileRemarks {
  readonly fields = new Map<string, Field>();
  /** `basic.user` and `basic.password`, by these names. */
  readonly basic = new Map<string, Field>();
  /** Options by their names without `options.`. */
  readonly options = new Map<string, { readonly variable: Variable; readonly value: Value }>();
  readonly issues: ProfileIssue[] = [];
  readonly notes: string[] = [];
  readonly warnings: string[] = [];

  /** `expectedField` counts as present although it has no value yet: the refresh token that a login is going to supply. */
  constructor(
    readonly name: string,
    readonly variables: Variables,
    readonly expectedField?: string,
  ) {}

  /** Copies the draft, so that a profile can be completed several times. */
  copy(expectedField?: string): ProfileDraft {
    const copy = new ProfileDraft(this.name, this.variables, expectedField);
    for (const [name, field] of this.fields) copy.fields.set(name, field);
    for (const [name, field] of this.basic) copy.basic.set(name, field);
    for (const [name, option] of this.options) copy.options.set(name, option);
    copy.issues.push(...this.issues);
    copy.notes.push(...this.notes);
    copy.warnings.push(...this.warnings);
    return copy;
  }

  /** Adds an issue; its location is that of `at`, by default of the field itself. */
  addIssue(field: string, message: string, hint: string | undefined, at?: Variable): void {
    const name = `${this.name}.${field}`;
    const location = at ?? this.variables.get(name);
    this.issues.push({
      variable: displayName(name, this.name),
      message,
      hint,
      where: location && locationOf(location),
    });
  }

  addNote(text: string): void {
    this.notes.push(escapeControls(text));
  }

  /** Adds a note about a probable mistake. */
  addWarning(text: string): void {
    this.warnings.push(escapeControls(text));
  }

  hasIssue(field: string): boolean {
    return this.issues.some(({ variable }) => variable === `${this.name}.${field}`);
  }

  /** Whether a field is set and not empty, or expected from a login. */
  has(field: string): boolean {
    return field === this.expectedField || !isEmpty(this.fields.get(field)?.value);
  }

  /** Whether an option is set and not empty. */
  hasOption(name: string): boolean {
    return !isEmpty(this.options.get(name)?.value);
  }

  /** Whether the profile sets Basic credentials, even if they cannot be resolved. */
  get usesBasic(): boolean {
    return this.basic.size > 0 || this.hasIssue('basic.user') || this.hasIssue('basic.password');
  }

  /** The value of a field; `undefined` if it is missing, empty or a secret. */
  getText(field: string): string | undefined {
    const value = this.fields.get(field)?.value;
    return typeof value === 'string' && value !== '' ? value : undefined;
  }

  /** The fields whose names are not in {@link KNOWN_FIELDS}. */
  get unknownFields(): string[] {
    return [...this.fields.keys()].filter((name) => !KNOWN_FIELDS.includes(name));
  }
}
