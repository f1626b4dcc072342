import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { toNetworkError, toProxyError } from '../../src/http/network-errors.ts';
import { post } from '../support/ports.ts';

const target = post('https://login.example.test:8443/token');
const errorWith = (code: string | undefined, properties: object = {}): NodeJS.ErrnoException =>
  Object.assign(new Error('a message of Node'), { code, ...properties });

describe('an error before the request was sent', () => {
  it.each([
    'ENOTFOUND',
    'EAI_AGAIN',
    'ECONNREFUSED',
    'ECONNRESET',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'ETIMEDOUT',
    'EMFILE',
    undefined,
  ])('is connection_failed, names the host and has a hint: %s', (code) => {
    const error = toNetworkError(errorWith(code), target, false);
    expect(error).toMatchObject({
      code: 'connection_failed',
      sent: false,
      hint: expect.stringMatching(/^check|check/),
    });
    expect(error.message).toContain('login.example.test:8443');
  });

  it('has the code of the first IP address if several were tried', () => {
    const all = new AggregateError([errorWith('ENETUNREACH'), errorWith('ECONNREFUSED')], '');
    expect(toNetworkError(all, target, false).cause).toMatchObject({ code: 'ENETUNREACH' });
    expect(toNetworkError(new AggregateError([], 'none'), target, false).cause).toMatchObject({ code: 'none' });
  });

  it.each([
    ['SELF_SIGNED_CERT_IN_CHAIN', 'graph.options.ca_file'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'graph.options.ca_file'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'graph.options.ca_file'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'graph.options.ca_file'],
    ['CERT_HAS_EXPIRED', 'expired'],
    ['CERT_NOT_YET_VALID', 'clock'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'for another host'],
    ['CERT_REVOKED', 'https server'],
    ['CRL_HAS_EXPIRED', 'https server'],
    ['INVALID_CA', 'https server'],
    ['INVALID_PURPOSE', 'https server'],
    ['PATH_LENGTH_EXCEEDED', 'https server'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'https server'],
    ['EPROTO', 'https server'],
    ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'graph.options.cert_file'],
  ])('is tls_failed with a hint: %s', (code, hint) => {
    const error = toNetworkError(errorWith(code), target, false);
    expect(error).toMatchObject({ code: 'tls_failed', sent: false });
    expect(error.message).toContain(`login.example.test:8443 (${code})`);
    expect(error.hint).toContain(hint);
  });
});

describe('an error after the request was sent', () => {
  it.each(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC', 'CERT_HAS_EXPIRED'])(
    'is connection_failed: %s',
    (code) => {
      const error = toNetworkError(errorWith(code), target, true);
      expect(error).toMatchObject({ code: 'connection_failed', sent: true });
      expect(error.message).toContain(`(${code})`);
    },
  );

  it.each([
    'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
    'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
    'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE',
  ])('is tls_failed if the server rejects the client certificate: %s', (code) => {
    const error = toNetworkError(errorWith(code), target, true);
    expect(error.code).toBe('tls_failed');
    expect(error.hint).toContain('graph.options.cert_file');
  });

  it('is response_unreadable without the received bytes if it is not HTTP', () => {
    const error = toNetworkError(errorWith('HPE_INVALID_CONSTANT', { rawPacket: Buffer.from('secret') }), target, true);
    expect(error.code).toBe('response_unreadable');
    expect(error.cause).toMatchObject({ code: 'HPE_INVALID_CONSTANT' });
    expect(error.cause).not.toHaveProperty('rawPacket');
  });
});

it('an error of the connection to a proxy names the proxy', () => {
  const unreachable = toProxyError(errorWith('ECONNREFUSED'), 'proxy:3128', 'graph');
  expect(unreachable).toMatchObject({ code: 'connection_failed', sent: false });
  expect(unreachable.message).toContain('the proxy proxy:3128 (ECONNREFUSED)');
  const untrusted = toProxyError(errorWith('SELF_SIGNED_CERT_IN_CHAIN'), 'proxy:3128', 'graph');
  expect(untrusted).toMatchObject({ code: 'tls_failed', hint: expect.stringContaining('graph.options.ca_file') });
  expect(untrusted.message).toContain('the proxy proxy:3128 (SELF_SIGNED_CERT_IN_CHAIN)');
});

describe('the cause of an error', () => {
  const echoed = 'c4n4ry echoed by the server';
  const altname = errorWith('ERR_TLS_CERT_ALTNAME_INVALID', {
    reason: echoed,
    host: echoed,
    cert: { subject: { CN: echoed } },
  });
  altname.message = echoed;
  const broken = errorWith('HPE_INVALID_CONSTANT', { rawPacket: Buffer.from(echoed), reason: echoed });
  broken.message = echoed;
  const several = new AggregateError([Object.assign(new Error(echoed), { code: 'ECONNREFUSED' })], echoed);

  it.each([altname, broken, several])('has only the code, nothing that the server sent: $code', (cause) => {
    for (const error of [
      toNetworkError(cause, target, false),
      toNetworkError(cause, target, true),
      toProxyError(cause, 'proxy:3128', 'graph'),
    ]) {
      const all = inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error) + JSON.stringify(error.cause);
      expect(all).not.toContain('c4n4ry');
      expect(all).not.toContain(Buffer.from('c4n4ry').toString('hex').replace(/../g, '$& ').trim());
      expect(error.cause).toMatchObject({ code: expect.stringMatching(/^[A-Z_]+$/) });
    }
  });
});
