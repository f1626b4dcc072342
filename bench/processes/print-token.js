// A short script of a user: gets one token with a client and prints it.
import { loadClient } from '../clients.js';

const [name = '', url = ''] = process.argv.slice(2);
process.stdout.write(`${await (await loadClient(name)).request(url)()}\n`);
