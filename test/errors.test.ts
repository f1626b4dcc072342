import { expect, it } from 'vitest';
import {
  InvalidProfileError,
  InvalidScriptError,
  OAuthProfileError,
  ProviderError,
  TransportError,
} from '../src/errors.ts';

const rejected = new ProviderError('provider_rejected', 'no', { provider: { status: 400 } });
const lost = new TransportError('timeout', 'no response', { sent: true });

it('an error is an instance of its class and of the base class only', () => {
  expect(rejected).toBeInstanceOf(ProviderError);
  expect(rejected).toBeInstanceOf(OAuthProfileError);
  expect(rejected).toBeInstanceOf(Error);
  expect(rejected).not.toBeInstanceOf(TransportError);
  expect(new OAuthProfileError('usage', 'no')).not.toBeInstanceOf(ProviderError);
  expect(lost).not.toBeInstanceOf(InvalidScriptError);
});

it('an error has the name of its class, its code and its data as members', () => {
  expect(Object.keys(rejected)).toEqual(['name', 'code', 'hint', 'provider', 'retryAt']);
  expect(lost).toMatchObject({ name: 'TransportError', code: 'timeout', sent: true });
});

it('the JSON form of a provider error has the members of the provider’s response', () => {
  const provider = { status: 429, error: 'e', description: 'd', codes: ['1'], suberror: 's', correlationId: 'c' };
  const error = new ProviderError('rate_limited', 'no', { provider, hint: 'wait', retryAt: Date.UTC(2027, 0, 1) });
  expect(JSON.parse(JSON.stringify(error))).toEqual({
    code: 'rate_limited',
    message: 'no',
    hint: 'wait',
    provider: { status: 429, error: 'e', error_description: 'd', codes: ['1'], suberror: 's', correlation_id: 'c' },
    retryAt: '2027-01-01T00:00:00.000Z',
  });
});

it('an invalid profile is described by its issues, in the message and in the JSON form', () => {
  const issues = [
    { variable: 'svc.type', message: 'is not set', hint: 'set it' },
    { variable: 'svc.url', message: 'is not a URL', hint: 'change it' },
  ];
  const error = new InvalidProfileError('svc', issues);
  expect(error.code).toBe('profile_invalid');
  for (const { variable, message, hint } of issues) {
    expect(error.message).toContain(`${variable} ${message}`);
    expect(error.hint).toContain(`${variable}: ${hint}`);
  }
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({ message: error.summary, issues });
  expect(new InvalidProfileError('svc', issues, undefined, 'login_required').code).toBe('login_required');
});
