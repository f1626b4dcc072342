import { join } from 'node:path';
import type { Sandbox } from './run-cli.ts';

/** Loaded into the command before anything else: writes down every connection and every look-up of a name. */
const witness = `
import { appendFileSync } from 'node:fs';
import net from 'node:net';
import dns from 'node:dns';
const note = (what) => appendFileSync(process.env.WITNESS, what + '\\n');
const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...args) {
  const options = Array.isArray(args[0]) ? args[0][0] : args[0];
  note('connect ' + (options.host ?? options.path));
  return connect.apply(this, args);
};
for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6']) {
  const real = dns[name];
  dns[name] = (host, ...rest) => {
    note(name + ' ' + host);
    return real(host, ...rest);
  };
}
`;

/** The environment in which commands leave in `$WITNESS` whom they reached; a proxy that nobody may ask stands in it. */
export function callWitness(sandbox: Sandbox): Record<string, string> {
  sandbox.write('witness.mjs', witness);
  return {
    NODE_OPTIONS: `--import=${join(sandbox.work, 'witness.mjs')}`,
    WITNESS: join(sandbox.work, 'witnessed'),
    HTTPS_PROXY: 'http://proxy.example.com:3128',
  };
}
