#!/usr/bin/env node
// Node's compile cache is not enabled here: by default it is below the temporary directory, where another user could plant compiled code.
import { main } from '../dist/cli.js';

process.exitCode = await main(process.argv.slice(2));
