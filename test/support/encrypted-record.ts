import { Secret } from '../../src/redaction/secret.ts';
import { readKeys } from '../../src/store/encryption.ts';

export const KEY = Buffer.alloc(32, 7).toString('base64');
export const keys = readKeys(Secret.untracked(KEY), 'the test');
export const NAME = 'login graph';
export const CONTENT = '{"kind":"login","profile":"graph"}';

/** The record with this name and content, encrypted with this key, as a latin1 string. */
export const encrypted = Buffer.from(
  'T0FQUgHkudPMWQmHCbY8F/hYnOUZHIGTe0RiXJiZhsMietZfAdBFOlts7BIQeuAc00a43g0wNaAplYfWIf2ain+15hG+xzPANlbdqulUGWkjU8dCVgc01QGeY6JF5sze0roWE6zyy/4OJM9U63y+sisH0aDxs3BI8zhHRQB40lE685pmfJHewJBdW8rDy5ZYeDX1UGKw06KN2A==',
  'base64',
).toString('latin1');

/** Parts of the header and of the record, for mutated inputs. */
export const headerTokens = [
  'OAPR',
  'OAPR\u0001',
  'OAPR\u0002',
  '\u0000',
  '\u00ff'.repeat(16),
  encrypted.slice(0, 29),
  encrypted.slice(29),
];
