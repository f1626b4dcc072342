import { Secret } from '../../src/redaction/secret.ts';
import { parseKeys } from '../../src/store/encryption.ts';

export const KEY = Buffer.alloc(32, 7).toString('base64');
export const keys = parseKeys(Secret.untracked(KEY), 'the test');
export const NAME = 'login graph';
export const CONTENT = '{"kind":"login","profile":"graph"}';

/** The record with this name and content, encrypted with this key, as a latin1 string. */
export const encrypted = Buffer.from(
  'T0FQUgHkudPMWQmHCbY8F/hYnOUZHIGTe0RiXJjAfWIXIA/aCt5qwQ14KJ3vUIEu0gUvLpEBQ5FpCTfsE/zAEmj2CzsgeflQ+GHVoYuC2Ph/P23kAwri2ydY0b1XP1g+rxjM/ATU+sXZsStfvXCBcmM33gADAzunYt0Uof2afJ6Bj2GdC74LohFDgBCSh+mxC20rlHRXSmlPnILAsI+v1OhTKg==',
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
