import { composeOutside } from '../../src/compose.ts';
import { flatten } from '../../src/data/flatten.ts';
import { Variables } from '../../src/data/variables.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { readProfile } from '../../src/profile/read-profile.ts';

/** The profile `svc` of these fields, read as the library does. */
export function profileOf(fields: Readonly<Record<string, unknown>>): Profile {
  const source = { label: 'data', folder: '', trust: 'given' } as const;
  const variables = new Variables().add(flatten({ svc: fields }, 'data'), source);
  return readProfile('svc', variables, composeOutside({ env: {}, cwd: '/' }));
}
