import { Secret } from '../../src/redaction/secret.ts';
import { parseKeys } from '../../src/store/encryption.ts';

export const KEY = Buffer.alloc(32, 7).toString('base64');
export const keys = parseKeys(Secret.untracked(KEY), 'the test');
export const NAME = 'login graph';
export const CONTENT = '{"kind":"login","profile":"graph"}';

/** The record with this name and content, encrypted with this key, as a latin1 string. */
export const encrypted = Buffer.from(
  'T0FQUgHkudPMWQmHCbY8F/hYnOUZHIGTe0RiXJhjeJOq/qXVQf8deYefUJ5YSURp+rNzfErBPxfisF41zPcxBopPrbLXw+nQgqQ4AIkKiQT1VS76h8euyVLdYYtx9DTYV4OnLGH6NfBtt2kEa1LocWs/TxX9UkcmHvqwFTBQ/NApfloa1t3rRiYf2jciyM114ubzpgKOEvca8pFImfvqB9p25c5+EQ==',
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
