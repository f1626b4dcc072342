import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A certificate with its key, as PEM. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

interface Wish {
  readonly name: string;
  readonly hosts?: string;
  readonly usage?: 'serverAuth' | 'clientAuth';
  readonly days?: [from: string, to: string];
}

/** A certificate authority in a temporary folder, which goes when the test file is done. */
export class Authority {
  readonly folder = mkdtempSync(join(tmpdir(), 'oauth-profile-ca-'));
  readonly ca: Pair;

  constructor(name = 'Test CA') {
    afterAll(() => rmSync(this.folder, { recursive: true, force: true }));
    this.#openssl(
      ...['req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '30', '-subj', `/CN=${name}`],
      ...['-addext', 'basicConstraints=critical,CA:TRUE'],
    );
    this.ca = this.#pair('ca');
    for (const [file, content] of [
      ['index.txt', ''],
      ['serial', '1000\n'],
      [
        'ca.cnf',
        '[ca]\ndefault_ca=own\n[own]\ndatabase=index.txt\nserial=serial\nnew_certs_dir=.\ndefault_md=sha256\npolicy=any\nunique_subject=no\nrand_serial=yes\n[any]\ncommonName=supplied\n',
      ],
    ] as const) {
      writeFileSync(join(this.folder, file), content);
    }
  }

  /** A certificate that this authority signed; `days` are the first and last, as `YYMMDDHHMMSSZ`. */
  issue({ name, hosts, usage = 'serverAuth', days }: Wish): Pair {
    this.#openssl('req', '-new', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
    const extensions = `extendedKeyUsage=${usage}\n${hosts === undefined ? '' : `subjectAltName=${hosts}\n`}`;
    writeFileSync(join(this.folder, `${name}.ext`), extensions);
    this.#openssl(
      ...['ca', '-batch', '-notext', '-config', 'ca.cnf', '-cert', 'ca.pem', '-keyfile', 'ca.key'],
      ...['-in', `${name}.csr`, '-out', `${name}.pem`, '-extfile', `${name}.ext`],
      ...(days === undefined ? ['-days', '30'] : ['-startdate', days[0], '-enddate', days[1]]),
    );
    return this.#pair(name);
  }

  /** Writes a file beside the certificates and gives back its path. */
  file(name: string, content: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, content);
    return path;
  }

  get caFile(): string {
    return join(this.folder, 'ca.pem');
  }

  #pair(name: string): Pair {
    const read = (ending: string) => readFileSync(join(this.folder, `${name}.${ending}`), 'utf8');
    return { cert: read('pem'), key: read('key') };
  }

  #openssl(...args: string[]): void {
    execFileSync('openssl', args, { cwd: this.folder, stdio: ['ignore', 'ignore', 'pipe'] });
  }
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** The names that tests reach local servers by; the last is only known to test proxies. */
export const SERVER_NAMES = 'DNS:localhost,IP:127.0.0.1,DNS:login.example.test';
