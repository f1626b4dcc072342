import { Browser } from './independent-browser.ts';

const credentials = { username: 'ada@example.com', password: 'lovelace', step: 'sign-in' };

/** Signs in at a page of the emulator, without a real browser. Returns the redirect URL, which is not visited. */
export async function signInByHand(url: string): Promise<string> {
  const browser = new Browser();
  const consent = await browser.submit(await browser.visit(url), credentials);
  return (await browser.submit({ ...consent, url }, { step: 'allow' })).url;
}

/** Enters a device code at a page of the emulator, signs in and consents, without a real browser. Returns the last page. */
export async function enterCodeByHand(url: string, code: string): Promise<string> {
  const browser = new Browser();
  const entered = await browser.submit(await browser.visit(url), { user_code: code });
  return (await browser.submit(await browser.submit(entered, credentials), { step: 'allow' })).text;
}
