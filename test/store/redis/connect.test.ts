import type { Cluster, Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import type { OAuthProfileError } from '../../../src/errors.ts';
import { onSecretCreated } from '../../../src/redaction/secret.ts';
import { parseRedisUrl } from '../../../src/store/redis/connect.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { Authority } from '../../support/certificates.ts';
import { errorOf } from '../../support/errors.ts';
import { leaksIn } from '../../support/leaks.ts';
import { anyKey } from '../../support/store.ts';

const authority = new Authority('Redis CA');
const optionsOf = async (url: string) => ((await parseRedisUrl(url).createClient()) as Redis).options;

describe('the URL of a Redis store', () => {
  it.each([
    ['redis://host', { host: 'host', port: 6379, db: 0, username: '', password: '' }],
    ['redis://host:7000/3', { host: 'host', port: 7000, db: 3 }],
    ['redis://[::1]:7000', { host: '::1', port: 7000 }],
    ['redis://:p%40ss@host', { username: '', password: 'p@ss' }],
    ['redis://user:a:b%2Fc@host/', { username: 'user', password: 'a:b/c', db: 0 }],
    ['rediss://host', { host: 'host', tls: { servername: 'host' } }],
    ['rediss://127.0.0.1', { host: '127.0.0.1', tls: {} }],
    ['unix:///run/redis.sock', { path: '/run/redis.sock', db: 0 }],
    ['unix://user:pass@/run/redis.sock?db=2', { path: '/run/redis.sock', db: 2, username: 'user', password: 'pass' }],
    [
      'redis+sentinel://user:pass@one,two:26380/main/2?sentinel_password=sentinel-pass',
      {
        sentinels: [
          { host: 'one', port: 26379 },
          { host: 'two', port: 26380 },
        ],
        ...{ name: 'main', db: 2, username: 'user', password: 'pass', sentinelPassword: 'sentinel-pass' },
      },
    ],
    ['rediss+sentinel://one/main', { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }],
  ])('configures the client: %s', async (url, expected) => {
    expect(await optionsOf(url)).toMatchObject(expected);
  });

  it('names the nodes of a cluster, its user and TLS', async () => {
    const client = (await parseRedisUrl('rediss+cluster://user:pass@one:7000,two').createClient()) as Cluster;
    expect(client).toMatchObject({
      isCluster: true,
      startupNodes: [
        { host: 'one', port: 7000 },
        { host: 'two', port: 6379 },
      ],
      options: { redisOptions: { username: 'user', password: 'pass', tls: {} } },
    });
    client.disconnect();
  });

  it('names the certificate authority to trust', async () => {
    const options = await optionsOf(`rediss://host?ca_file=${authority.caFile}`);
    expect(options.tls?.ca?.toString()).toBe(authority.ca.cert);
  });

  it('appears in messages without credentials and query', () => {
    expect(parseRedisUrl('redis://user:pass@host:7000/3')).toMatchObject({
      location: 'redis://host:7000/3',
      hosts: 'host:7000',
    });
    expect(parseRedisUrl('unix://:pass@/run/redis.sock')).toMatchObject({
      location: 'unix:///run/redis.sock',
      hosts: '/run/redis.sock',
    });
    expect(parseRedisUrl('redis+sentinel://:p@a,b/main?sentinel_password=q')).toMatchObject({
      location: 'redis+sentinel://a,b/main',
      hosts: 'a,b',
    });
  });

  it.each([
    '',
    'redis://',
    'redis:///1',
    'http://localhost',
    'localhost:6379',
    'redis://localhost/one',
    'redis://localhost/1/2',
    'redis://localhost/-1',
    'redis://one,two',
    'redis://localhost?password=secret-in-query',
    'redis://localhost?db=x',
    'redis://localhost#1',
    'redis://:bad%escape@localhost',
    'redis://:raw/sl%61sh@localhost',
    'redis://:raw@sign@localhost',
    'redis://localhost:99999',
    'redis://localhost:0',
    'redis+cluster://localhost/1',
    'redis+sentinel://localhost',
    'redis+sentinel://localhost/main/one',
    'unix://host/run/redis.sock',
    'unix://',
  ])('is rejected and not repeated if it is invalid: %s', async (url) => {
    const open = openRedisStore(url, { env: { OAUTH_PROFILE_KEY: anyKey() }, warn: () => {} });
    const error = (await errorOf(open)) as OAuthProfileError;
    expect(error).toMatchObject({ code: 'usage', hint: expect.stringContaining('redis+sentinel://') });
    expect(JSON.stringify(error)).not.toMatch(/escape|secret-in-query|raw|sl%61sh|slash/);
  });

  it('is rejected if its ca_file cannot be read', () => {
    expect(() => parseRedisUrl('rediss://host?ca_file=/does/not/exist')).toThrow(
      expect.objectContaining({ code: 'usage', hint: expect.stringContaining('NODE_EXTRA_CA_CERTS') }),
    );
  });

  it.each([
    ['redis://user:p%40ssword-1@host', 'p@ssword-1'],
    ['redis://:raw/password-2@host', 'raw/password-2'],
    ['redis+sentinel://host/main?sentinel_password=password-3', 'password-3'],
    ['redis://host?password=password-4', 'password-4'],
  ])('has its password registered as a secret, also if it is invalid: %s', (url, password) => {
    const secrets: string[] = [];
    const stop = onSecretCreated((secret) => secrets.push(secret.reveal()));
    let location = '';
    try {
      location = JSON.stringify(parseRedisUrl(url));
    } catch (error) {
      location = JSON.stringify(error);
    }
    stop();
    expect(secrets).toContain(password);
    expect(leaksIn(location, [password])).toEqual([]);
  });
});
