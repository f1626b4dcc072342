// What a script without our command line would be: gets one token with a candidate and prints it.
import { loadCandidate } from '../candidates.js';

const [name = '', url = ''] = process.argv.slice(2);
process.stdout.write(`${await (await loadCandidate(name)).connect(url)()}\n`);
