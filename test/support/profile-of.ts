import { flatten } from '../../src/config/flatten.ts';
import { Variables } from '../../src/config/variables.ts';
import { createProfileSources } from '../../src/files/profile-files.ts';
import { completeProfile } from '../../src/profile/complete-profile.ts';
import { type LoginProfile, toLoginProfile } from '../../src/profile/login-profile.ts';
import { type ParsedProfile, parseProfile } from '../../src/profile/parse-profile.ts';
import type { Profile } from '../../src/profile/profile.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The variables of one profile. */
export function variablesWith(name: string, fields: Fields): Variables {
  return new Variables().add(flatten({ [name]: fields }, 'data'), { label: 'data', directory: '', trust: 'given' });
}

/** A parsed profile, which is not completed with a stored login yet. */
export function parsedProfileOf(name: string, fields: Fields): ParsedProfile {
  return parseProfile(name, variablesWith(name, fields), createProfileSources({ env: {}, cwd: '/' }));
}

/** The profile `svc` with these fields and without a stored login. */
export function profileOf(fields: Fields): Profile {
  return completeProfile(parsedProfileOf('svc', fields));
}

/** The profile `svc` with these fields, for a login. */
export function loginProfileOf(fields: Fields): LoginProfile {
  return toLoginProfile(parsedProfileOf('svc', fields));
}
