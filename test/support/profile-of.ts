import { composeOutside } from '../../src/compose.ts';
import { flatten } from '../../src/config/flatten.ts';
import { Variables } from '../../src/config/variables.ts';
import { completeProfile } from '../../src/profile/complete-profile.ts';
import { parseProfile } from '../../src/profile/parse-profile.ts';
import type { Profile } from '../../src/profile/profile.ts';

/** The profile `svc` of these fields, read as the library does. */
export function profileOf(fields: Readonly<Record<string, unknown>>): Profile {
  const source = { label: 'data', directory: '', trust: 'given' } as const;
  const variables = new Variables().add(flatten({ svc: fields }, 'data'), source);
  return completeProfile(parseProfile('svc', variables, composeOutside({ env: {}, cwd: '/' })));
}
