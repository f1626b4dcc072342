import { expect, it } from 'vitest';
import { StoreHome, anyKey, put, kept, shown } from '../support/store-home.ts';
import { StoreProcess, buildStoreChild } from '../support/store-process.ts';
it('smoke', async () => {
  const home = new StoreHome();
  await put(home.open(undefined), 'counter', kept('h1'));
  const script = await buildStoreChild();
  const env = home.env();
  const ps = Array.from({length:9},()=>new StoreProcess(script, env));
  for (const p of ps) await p.said('ready');
  const [first,...rest]=ps; 
  for (let round=0; round<8; round++) {
  first!.tell('hold'); await first!.said('holding');
  for (const p of rest) p.tell('callers 20'); for (const p of rest) await p.said('waiting');
  await new Promise(r=>setTimeout(r,300));
  first!.tell('release'); const at = BigInt(await first!.said('let go')); await first!.said('done');
  const served=[]; for (const p of rest) served.push(Number(BigInt(await p.said('served'))-at)/1e6);
  console.log(served.sort((a,b)=>a-b).map(Math.round).join(' '));
  }
  const ones=[];
  for (let round=0; round<12; round++) {
  first!.tell('hold'); await first!.said('holding');
  rest[0]!.tell('callers 1'); await rest[0]!.said('waiting');
  await new Promise(r=>setTimeout(r,50));
  first!.tell('release'); const at = BigInt(await first!.said('let go')); await first!.said('done');
  ones.push(Number(BigInt(await rest[0]!.said('served'))-at)/1e6);
  }
  console.log('one waiter', ones.map(n=>n.toFixed(1)).join(' '));
  for (const p of ps) await p.kill('SIGTERM');
  console.log(home.files());
}, 60000);
