import { closestMatch } from '../config/suggestions.ts';
import { profileNameOf, type Variables } from '../config/variables.ts';
import type { Provider } from '../providers/provider.ts';
import { findProvider, providerTypes } from '../providers/registry.ts';
import { escapeControls } from '../redaction/sanitize.ts';
import type { ProfileDraft } from './profile-draft.ts';

/** The provider that `<profile>.type` names; the comparison is case-sensitive. */
export function chooseProvider(draft: ProfileDraft): Provider | undefined {
  const type = draft.text('type');
  if (type === undefined) {
    if (!draft.hasIssue('type')) draft.addIssue('type', 'is missing', missingHint(draft));
    return undefined;
  }
  const provider = findProvider(type);
  if (provider !== undefined) return provider;
  const near = closestMatch(type, providerTypes);
  draft.addIssue('type', `is ${escapeControls(type)}, which is no known type`, unknownHint(type, near));
  // Of one that is meant for certain the other issues are told too; of a guess they would be guesses.
  return near !== undefined && isSameWord(type, near) ? findProvider(near) : undefined;
}

function missingHint({ name, variables }: ProfileDraft): string {
  const near =
    variables.get(`${name}.type`) === undefined ? closestMatch(`${name}.type`, strays(name, variables)) : undefined;
  if (near === undefined) return `set it to one of ${providerTypes.join(', ')}`;
  return `${escapeControls(near)} is there: did you mean ${name}.type?`;
}

/** Variables that may be this profile's type under a wrong name: its own, and a type that has no other field beside it. */
function strays(name: string, variables: Variables): string[] {
  const all = [...variables.names()];
  return all.filter((candidate) => {
    const owner = profileNameOf(candidate);
    if (owner === undefined || owner === name) return owner === name;
    return candidate === `${owner}.type` && !all.some((other) => other !== candidate && profileNameOf(other) === owner);
  });
}

function unknownHint(type: string, near: string | undefined): string {
  if (near === undefined) return `types are ${providerTypes.join(', ')}`;
  return `${isSameWord(type, near) ? 'types are case-sensitive: ' : ''}did you mean ${near}?`;
}

function isSameWord(type: string, other: string): boolean {
  return type.toLowerCase() === other.toLowerCase();
}
