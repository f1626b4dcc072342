#!/usr/bin/env node
const { main } = require('../dist/cli/main.cjs');

// When it comes back everything is written; letting Node find out that nothing is left to do takes longer.
main(process.argv.slice(2)).then((status) => process.exit(status));
