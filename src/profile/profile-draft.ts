import type { Value } from '../config/value.ts';
import { isEmpty } from '../config/value.ts';
import { locationOf, type Variable, type Variables } from '../config/variables.ts';
import type { ProfileIssue } from '../errors.ts';
import { escapeControls } from '../redaction/sanitize.ts';
import { displayName } from '../redaction/sensitive-names.ts';
import type { Field } from './profile.ts';

/** A profile while it is read: its parts as they are found, and everything that is wrong with them. */
export class ProfileDraft {
  readonly fields = new Map<string, Field>();
  readonly basic = new Map<string, Field>();
  readonly options = new Map<string, { readonly variable: Variable; readonly value: Value }>();
  readonly issues: ProfileIssue[] = [];
  /** Remarks that do not make the profile invalid but may point to a mistake. */
  readonly notes: string[] = [];
  /** Field that counts as present although it has no value yet: the refresh token that a login is going to supply. */
  readonly expectedField: string | undefined;

  constructor(
    readonly name: string,
    readonly variables: Variables,
    expectedField?: string,
  ) {
    this.expectedField = expectedField;
  }

  /** Copies the draft, so that a profile can be completed several times; changes to the copy do not affect the original. */
  copy(expectedField?: string): ProfileDraft {
    const copy = new ProfileDraft(this.name, this.variables, expectedField);
    for (const [name, field] of this.fields) copy.fields.set(name, field);
    for (const [name, field] of this.basic) copy.basic.set(name, field);
    for (const [name, option] of this.options) copy.options.set(name, option);
    copy.issues.push(...this.issues);
    copy.notes.push(...this.notes);
    return copy;
  }

  /** `at` is the variable that shows the fault, where that is not the field itself. */
  addIssue(field: string, message: string, hint: string | undefined, at?: Variable): void {
    const variable = `${this.name}.${field}`;
    const found = at ?? this.variables.get(variable);
    this.issues.push({
      variable: displayName(variable, this.name),
      message,
      hint: hint,
      where: found && locationOf(found),
    });
  }

  addNote(text: string): void {
    this.notes.push(escapeControls(text));
  }

  /** Whether something was found wrong with a field already. */
  hasIssue(field: string): boolean {
    return this.issues.some((fault) => fault.variable === `${this.name}.${field}`);
  }

  /** Whether a field is set and not empty, or expected from a login. */
  has(field: string): boolean {
    return field === this.expectedField || !isEmpty(this.fields.get(field)?.value);
  }

  /** Whether an option is there and not empty. */
  hasOption(name: string): boolean {
    return !isEmpty(this.options.get(name)?.value);
  }

  /** Whether the profile brings a Basic pair, even one that could not be read. */
  get wantsBasic(): boolean {
    return this.basic.size > 0 || this.hasIssue('basic.user') || this.hasIssue('basic.password');
  }

  /** A field's text if it is not empty; a secret has none, and nothing that decides where a request goes is one. */
  text(field: string): string | undefined {
    const value = this.fields.get(field)?.value;
    return typeof value === 'string' && value !== '' ? value : undefined;
  }
}
