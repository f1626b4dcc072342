import type { ExternalSources } from '../../src/config/resolver.ts';
import { Variables } from '../../src/config/variables.ts';
import { readYaml } from '../../src/config/yaml.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { readProfile } from '../support/profiles.ts';
import { createSources, sources } from '../support/variables.ts';

/** The profile `name` from a YAML file. */
export function readFromYaml(name: string, text: string, external: ExternalSources = createSources()): Profile {
  const label = 'profiles.yaml';
  return readProfile(name, new Variables().add(readYaml(text, label), { ...sources.given, label }), external);
}
