// Loaded in front of a program with --require: at exit writes the peak of its resident memory, in KiB, to file descriptor 3.
const { readFileSync, writeSync } = require('node:fs');

process.on('exit', () => {
  // Linux counts getrusage's maximum from before exec, when the process was a copy of its parent; VmHWM starts at exec.
  const peak =
    process.platform === 'linux'
      ? /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
      : process.resourceUsage().maxRSS;
  writeSync(3, String(peak));
});
