import { describe, expect, it } from 'vitest';
import { isLoopback } from '../../src/profile/loopback.ts';

describe('isLoopback()', () => {
  it.each(['localhost', '127.0.0.1', '127.8.9.10', '127.255.255.255', '::1', '[::1]'])('D13 accepts %s', (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  it.each([
    '',
    'example.com',
    'app.localhost',
    'localhost.example.com',
    'mylocalhost',
    'localhost.',
    '127.0.0.1.example.com',
    '127.example.com',
    '1127.0.0.1',
    '128.0.0.1',
    '10.0.0.1',
    '0.0.0.0',
    '192.168.0.1',
    '169.254.169.254',
    '::',
    '[::]',
    '[::2]',
    '[fe80::1]',
    '::1.example.com',
    'a\nlocalhost\n',
  ])('D13 does not accept %j', (host) => {
    expect(isLoopback(host)).toBe(false);
  });

  it.each([
    ['http://127.1/', true],
    ['http://2130706433/', true],
    ['http://0x7f000001/', true],
    ['http://LOCALHOST:8080/', true],
    ['http://[0:0:0:0:0:0:0:1]/', true],
    ['http://127.0.0.1@example.com/', false],
    ['http://localhost%2eexample.com/', false],
  ])('D13 returns for the parsed host of %s: %s', (url, expected) => {
    expect(isLoopback(new URL(url).hostname)).toBe(expected);
  });
});
