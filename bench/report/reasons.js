/** Why somebody is ahead of us, where somebody is; `*` stands for everybody else. @type {Record<string, Record<string, string>>} */
const reasons = {
  requests: {
    'node:http':
      'sends a request that was made beforehand and checks nothing; ours reads the profile anew, watches the time and the length of the reply, and checks it.',
    'undici.request':
      'has a leaner HTTP client than Node itself and checks nothing; we stay with node:http because loading undici costs a short process more than all its requests.',
  },
  cached: {
    'a map': 'does not look at the clock; ours must know at each get whether the token is still fresh.',
    '*': 'compares a date and hands out a text; ours hands out the whole response and keeps its `expires_in` current.',
  },
  expired: {
    '*': 'hands one promise to all callers at once; ours does some work for each caller before it joins the others.',
  },
  rotation: {
    '*': 'waits for nobody: its processes race, whoever comes second is refused and ends early, and the refresh token is lost.',
  },
  starts: {
    'node -e 0': 'does nothing.',
    'a script with node:http': 'loads nothing beyond Node; ours loads its own code too.',
  },
  emulator: {
    'bare server': 'answers a constant; the emulator checks the client and signs a token.',
  },
};

/** A sentence for everybody who is ahead of us. @param {string} part @param {string[]} ahead */
export function explain(part, ahead) {
  /** @type {Map<string, string[]>} */
  const names = new Map();
  for (const name of ahead) {
    const reason = reasons[part]?.[name] ?? reasons[part]?.['*'] ?? 'we do not know why.';
    names.set(reason, [...(names.get(reason) ?? []), name]);
  }
  const lines = [...names].map(([reason, group]) => `- ${group.join('; ')}: ${reason}`);
  return lines.length === 0 ? '' : ['Ahead of us:', '', ...lines].join('\n');
}
