const { readFileSync } = require('node:fs');

/**
 * The most memory that this process ever had, in MiB. Linux counts getrusage's maximum from before exec, when the process was a copy of its
 * parent; VmHWM starts at exec.
 */
exports.peakMib = () => {
  const kib =
    process.platform === 'linux' && /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return Number(kib || process.resourceUsage().maxRSS) / 1024;
};
