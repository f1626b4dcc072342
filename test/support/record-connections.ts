import { join } from 'node:path';
import type { Sandbox } from './run-cli.ts';

/** Loaded before the program: records every connection and every DNS lookup. */
const hook = `
import { appendFileSync } from 'node:fs';
import net from 'node:net';
import dns from 'node:dns';
const record = (line) => appendFileSync(process.env.CONNECTIONS, line + '\\n');
const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...args) {
  const options = Array.isArray(args[0]) ? args[0][0] : args[0];
  record('connect ' + (options.host ?? options.path));
  return connect.apply(this, args);
};
for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6']) {
  const real = dns[name];
  dns[name] = (host, ...rest) => {
    record(name + ' ' + host);
    return real(host, ...rest);
  };
}
`;

/** The environment in which commands record their connections in the file `$CONNECTIONS`. It contains a proxy that must not be used. */
export function recordConnections(sandbox: Sandbox): Record<string, string> {
  sandbox.write('record-connections.mjs', hook);
  return {
    NODE_OPTIONS: `--import=${join(sandbox.work, 'record-connections.mjs')}`,
    CONNECTIONS: join(sandbox.work, 'connections'),
    HTTPS_PROXY: 'http://proxy.example.com:3128',
  };
}
