// Loaded in front of a program with `--require`: at exit writes the peak of its memory, in MiB, to file descriptor 3.
const { writeSync } = require('node:fs');
const { peakMib } = require('../peak-memory.cjs');

process.on('exit', () => writeSync(3, String(peakMib())));
