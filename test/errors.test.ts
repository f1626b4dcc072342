import { expect, it } from 'vitest';
import { InvalidScriptError, OAuthProfileError, ProviderError, TransportError } from '../src/errors.ts';

const refused = new ProviderError('provider_rejected', 'no', { provider: { status: 400 } });
const lost = new TransportError('timeout', 'late', { sent: true });

it('an error is of its class and of the base, and of no other', () => {
  expect(refused).toBeInstanceOf(ProviderError);
  expect(refused).toBeInstanceOf(OAuthProfileError);
  expect(refused).toBeInstanceOf(Error);
  expect(refused instanceof TransportError).toBe(false);
  expect(new OAuthProfileError('usage', 'no') instanceof ProviderError).toBe(false);
  expect(lost instanceof InvalidScriptError).toBe(false);
});

it.each([undefined, null, 'OAuthProfileError', {}, new Error('x')])('%s is none', (value) => {
  expect((value as unknown) instanceof OAuthProfileError).toBe(false);
});

it('a class that somebody derives has its own instances alone', () => {
  class Mine extends ProviderError {}
  const mine = new Mine('provider_rejected', 'no', { provider: { status: 400 } });
  expect(mine).toBeInstanceOf(Mine);
  expect(mine).toBeInstanceOf(ProviderError);
  expect(refused instanceof Mine).toBe(false);
});

it('says nothing of how it is recognised', () => {
  expect(Object.keys(refused)).toEqual(['name', 'code', 'hint', 'provider', 'retryAt']);
});
