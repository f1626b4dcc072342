import { Browser } from './independent-browser.ts';

const ada = { username: 'ada@example.com', password: 'lovelace', step: 'sign-in' };

/** The person signs in at a page of the emulator, with no more of a browser than that takes; gives back where they are sent, without going there. */
export async function signInByHand(address: string): Promise<string> {
  const browser = new Browser();
  const consent = await browser.submit(await browser.visit(address), ada);
  return (await browser.submit({ ...consent, url: address }, { step: 'allow' })).url;
}

/** The person enters a device code at a page of the emulator, signs in and agrees; gives back the last page. */
export async function enterCodeByHand(address: string, code: string): Promise<string> {
  const browser = new Browser();
  const entered = await browser.submit(await browser.visit(address), { user_code: code });
  return (await browser.submit(await browser.submit(entered, ada), { step: 'allow' })).text;
}
