import { execFileSync } from 'node:child_process';

/** What kind of share a folder is on, if any. The numbers of systems other than Linux are not fixed, but their `df` names the server of a share: `host:/path` or `//host/share`. */
export function askDf(folder: string): string | undefined {
  if (process.platform === 'win32') return folder.startsWith('\\\\') ? 'a share' : undefined;
  const device = execFileSync('df', ['-P', folder], { encoding: 'utf8' }).split('\n')[1] ?? '';
  return /^(?:\/\/|[^/\s]+:\/)/.exec(device) === null ? undefined : 'a share';
}
