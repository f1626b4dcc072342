import { createHash } from 'node:crypto';
import type { User } from '../subjects.ts';

const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a string is a GUID. */
export function isGuid(text: string): boolean {
  return GUID.test(text);
}

/** A GUID that is always the same for the same name; a GUID stays as it is. */
export function guidOf(name: string): string {
  if (isGuid(name)) return name.toLowerCase();
  return hash(name).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');
}

/** A decimal number of this many digits that is always the same for the same name. */
export function numberOf(name: string, digits: number): string {
  const number = BigInt(`0x${hash(name)}`) % 10n ** BigInt(digits - 1);
  return `1${String(number).padStart(digits - 1, '0')}`;
}

/** An identifier of letters and digits with a prefix, such as Okta's `00u…`, that is always the same for the same name. */
export function identifierOf(prefix: string, name: string): string {
  return `${prefix}${hash(name).slice(0, 20 - prefix.length)}`;
}

/** A hash, for pairwise subjects. */
export function hashOf(...names: string[]): string {
  return createHash('sha256').update(names.join('\n')).digest('base64url');
}

function hash(name: string): string {
  return createHash('sha256').update(name.toLowerCase()).digest('hex');
}

/** The names of a user. What is not configured is derived from the login name. */
export function namesOf(user: User): { name: string; given: string; family: string; email: string } {
  const parts = (user.login.split('@')[0] ?? '')
    .split(/[._-]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1));
  const given = user.given_name ?? parts[0] ?? '';
  const family = user.family_name ?? (parts.slice(1).join(' ') || 'Example');
  const name = user.name ?? `${given} ${family}`;
  const email = user.email ?? (user.login.includes('@') ? user.login : `${user.login}@example.com`);
  return { name, given, family, email };
}
