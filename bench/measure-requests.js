import { candidates } from './candidates.js';
import { startChild } from './child.js';

const ROUNDS = 11;
const ROUND_MS = 300;
/** Some ten thousand requests, until V8 has compiled what it will compile. */
const COMPILE_MS = 2500;
const WARM_UP_MS = 300;

/** Requests a second of each candidate, one number for each round. @param {string} url @returns {Promise<Record<'alone' | 'fifty', Record<string, number[]>>>} */
export async function measureRequests(url) {
  const names = Object.keys(candidates);
  const children = await Promise.all(names.map((name) => startChild('requester.js', [name, url])));
  /** One candidate after the other, so that the two processes at work, client and server, have a core each. */
  const ask = async (/** @type {number} */ atOnce, /** @type {number} */ forMs) => {
    /** @type {Record<string, number>} */
    const rates = {};
    for (const [index, name] of names.entries()) rates[name] = Number(await children[index]?.ask({ atOnce, forMs }));
    return rates;
  };
  const measure = async (/** @type {number} */ atOnce) => {
    await ask(atOnce, WARM_UP_MS);
    /** @type {Record<string, number[]>} */
    const rounds = Object.fromEntries(names.map((name) => [name, []]));
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, rate] of Object.entries(await ask(atOnce, ROUND_MS))) rounds[name]?.push(rate);
    }
    return rounds;
  };
  try {
    await ask(50, COMPILE_MS);
    return { alone: await measure(1), fifty: await measure(50) };
  } finally {
    for (const child of children) child.end();
  }
}
