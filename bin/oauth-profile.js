#!/usr/bin/env node
import module from 'node:module';

// Node 22.8 and later cache compiled code in a directory of their own.
module.enableCompileCache?.();
const { main } = await import('../dist/cli.js');
process.exitCode = await main(process.argv.slice(2));
