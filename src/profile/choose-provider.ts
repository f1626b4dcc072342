import { nearest } from '../config/suggestions.ts';
import { profileOf, type Variables } from '../config/variables.ts';
import type { Provider } from '../providers/provider.ts';
import { findProvider, providerTypes } from '../providers/registry.ts';
import { printable } from '../redaction/printable.ts';
import type { ProfileDraft } from './profile-draft.ts';

/** The provider that `<profile>.type` names; the comparison is case-sensitive. */
export function chooseProvider(draft: ProfileDraft): Provider | undefined {
  const type = draft.text('type');
  if (type === undefined) {
    if (!draft.isFaulty('type')) draft.fault('type', 'is missing', missingAdvice(draft));
    return undefined;
  }
  const provider = findProvider(type);
  if (provider !== undefined) return provider;
  const near = nearest(type, providerTypes);
  draft.fault('type', `is ${printable(type)}, which is no known type`, unknownAdvice(type, near));
  // Of one that is meant for certain the other faults are told too; of a guess they would be guesses.
  return near !== undefined && isSameWord(type, near) ? findProvider(near) : undefined;
}

function missingAdvice({ name, variables }: ProfileDraft): string {
  const near =
    variables.get(`${name}.type`) === undefined ? nearest(`${name}.type`, strays(name, variables)) : undefined;
  if (near === undefined) return `set it to one of ${providerTypes.join(', ')}`;
  return `${printable(near)} is there: did you mean ${name}.type?`;
}

/** Variables that may be this profile's type under a wrong name: its own, and a type that has no other field beside it. */
function strays(name: string, variables: Variables): string[] {
  const all = [...variables.names()];
  return all.filter((candidate) => {
    const owner = profileOf(candidate);
    if (owner === undefined || owner === name) return owner === name;
    return candidate === `${owner}.type` && !all.some((other) => other !== candidate && profileOf(other) === owner);
  });
}

function unknownAdvice(type: string, near: string | undefined): string {
  if (near === undefined) return `types are ${providerTypes.join(', ')}`;
  return `${isSameWord(type, near) ? 'types are case-sensitive: ' : ''}did you mean ${near}?`;
}

function isSameWord(type: string, other: string): boolean {
  return type.toLowerCase() === other.toLowerCase();
}
