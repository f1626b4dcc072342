import type { Registry } from '../registry.ts';
import type { CheckPath } from './reading.ts';

/** What checks the JSON paths of a script, loaded only where its text names a command that takes one. */
export async function loadPathCheck(text: string, registry: Registry): Promise<CheckPath | undefined> {
  for (const { group, name, parameters } of registry) {
    if (!parameters.some(({ kind }) => kind === 'jsonpath') || !text.includes(`${group}.${name}`)) continue;
    const { compile } = await import('json-p3');
    return (path) => {
      try {
        compile(path);
        return undefined;
      } catch (error) {
        return (error as Error).message;
      }
    };
  }
  return undefined;
}
