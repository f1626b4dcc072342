#!/usr/bin/env node
// The command line begins here: this file is built into `bin/`, and all others are loaded by it.
import { Program } from '../program.ts';

const program = new Program(`${__dirname}/../dist/cli/`, require);
const { main } = program.load('main.cjs') as typeof import('./main.ts');
const args = process.argv.slice(2);
main(args).then((status) => {
  // Only a whole `token` has used, and so compiled, what the next one will need.
  if (args[0] === 'token' && status === 0) program.keepCompiled();
  // Everything is written; letting Node find that nothing is left to do takes longer.
  process.exit(status);
});
