import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { toNetworkError, toProxyError } from '../../src/http/network-errors.ts';
import { post } from '../support/wire-request.ts';

const wire = post('https://login.example.test:8443/token');
const errorWith = (code: string | undefined, more: object = {}): NodeJS.ErrnoException =>
  Object.assign(new Error('the words of Node'), { code, ...more });

describe('a failure before anything was sent', () => {
  it.each([
    ['ENOTFOUND', 'there is no host login.example.test:8443', 'spelling'],
    ['EAI_AGAIN', 'the name login.example.test:8443 could not be looked up', 'name server'],
    ['ECONNREFUSED', 'login.example.test:8443 takes no connections', 'whether the server runs'],
    ['ECONNRESET', 'login.example.test:8443 ended the connection before it was ready', 'proxy'],
    ['EHOSTUNREACH', 'there is no way to login.example.test:8443', 'VPN'],
    ['ENETUNREACH', 'there is no way to login.example.test:8443', 'VPN'],
    ['ETIMEDOUT', 'login.example.test:8443 did not take the connection in time', 'proxy'],
    ['EMFILE', 'cannot connect to login.example.test:8443 (EMFILE)', 'network'],
    [undefined, 'cannot connect to login.example.test:8443 (the words of Node)', 'network'],
  ])('is told in words: %s', (code, message, hint) => {
    const error = toNetworkError(errorWith(code), wire, false);
    expect(error).toMatchObject({ code: 'connection_failed', message, sent: false });
    expect(error.hint).toContain(hint);
  });

  it('of several addresses is told by the first', () => {
    const all = new AggregateError([errorWith('ENETUNREACH'), errorWith('ECONNREFUSED')], '');
    expect(toNetworkError(all, wire, false).message).toBe('there is no way to login.example.test:8443');
    expect(toNetworkError(new AggregateError([], 'nothing'), wire, false).message).toContain('(nothing)');
  });

  it.each([
    ['SELF_SIGNED_CERT_IN_CHAIN', 'graph.options.ca_file'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'graph.options.ca_file'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'graph.options.ca_file'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'graph.options.ca_file'],
    ['CERT_HAS_EXPIRED', 'expired'],
    ['CERT_NOT_YET_VALID', 'clock'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'another host'],
    ['CERT_REVOKED', 'speaks TLS'],
    ['CRL_HAS_EXPIRED', 'speaks TLS'],
    ['INVALID_CA', 'speaks TLS'],
    ['INVALID_PURPOSE', 'speaks TLS'],
    ['PATH_LENGTH_EXCEEDED', 'speaks TLS'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'speaks TLS'],
    ['EPROTO', 'speaks TLS'],
    ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'graph.options.cert_file'],
  ])('is one of trust: %s', (code, hint) => {
    const error = toNetworkError(errorWith(code), wire, false);
    expect(error).toMatchObject({ code: 'tls_failed', sent: false });
    expect(error.message).toBe(`no trusted connection to login.example.test:8443 (${code})`);
    expect(error.hint).toContain(hint);
  });
});

describe('a failure after sending', () => {
  it.each(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC', 'CERT_HAS_EXPIRED'])(
    'may have reached the provider: %s',
    (code) => {
      const error = toNetworkError(errorWith(code), wire, true);
      expect(error).toMatchObject({ code: 'connection_failed', sent: true });
      expect(error.message).toContain(`broke before the reply was complete (${code})`);
    },
  );

  it.each([
    'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
    'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
    'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE',
  ])('may be a late refusal of the client certificate: %s', (code) => {
    const error = toNetworkError(errorWith(code), wire, true);
    expect(error.code).toBe('tls_failed');
    expect(error.hint).toContain('graph.options.cert_file');
  });

  it('keeps what Node stumbled over out of the error', () => {
    const error = toNetworkError(errorWith('HPE_INVALID_CONSTANT', { rawPacket: Buffer.from('secret') }), wire, true);
    expect(error.code).toBe('response_unreadable');
    expect(error.cause).toMatchObject({ code: 'HPE_INVALID_CONSTANT' });
    expect(error.cause).not.toHaveProperty('rawPacket');
  });
});

it('a failure on the way to a proxy names the proxy', () => {
  expect(toProxyError(errorWith('ECONNREFUSED'), 'proxy:3128', 'graph')).toMatchObject({
    code: 'connection_failed',
    message: 'cannot connect to the proxy proxy:3128 (ECONNREFUSED)',
    sent: false,
  });
  expect(toProxyError(errorWith('SELF_SIGNED_CERT_IN_CHAIN'), 'proxy:3128', 'graph')).toMatchObject({
    code: 'tls_failed',
    message: 'no trusted connection to the proxy proxy:3128 (SELF_SIGNED_CERT_IN_CHAIN)',
    hint: expect.stringContaining('graph.options.ca_file'),
  });
});

describe('the cause of a failure', () => {
  const words = 'c4n4ry in the words of who answered';
  const altname = errorWith('ERR_TLS_CERT_ALTNAME_INVALID', {
    reason: words,
    host: words,
    cert: { subject: { CN: words } },
  });
  altname.message = words;
  const broken = errorWith('HPE_INVALID_CONSTANT', { rawPacket: Buffer.from(words), reason: words });
  broken.message = words;
  const several = new AggregateError([Object.assign(new Error(words), { code: 'ECONNREFUSED' })], words);

  it.each([altname, broken, several])('is told by its code alone: $code', (cause) => {
    for (const error of [
      toNetworkError(cause, wire, false),
      toNetworkError(cause, wire, true),
      toProxyError(cause, 'proxy:3128', 'graph'),
    ]) {
      const all = inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error) + JSON.stringify(error.cause);
      expect(all).not.toContain('c4n4ry');
      expect(all).not.toContain(Buffer.from('c4n4ry').toString('hex').replace(/../g, '$& ').trim());
      expect(error.cause).toMatchObject({ code: expect.stringMatching(/^[A-Z_]+$/) });
    }
  });
});
