/** One result of `check --online`. */
export interface Diagnostic {
  /** `error`: the profile cannot work. `warning`: it may fail, now or soon. `note` and `ok` are for information. */
  readonly level: 'error' | 'warning' | 'note' | 'ok';
  readonly about: 'connection' | 'certificate' | 'clock' | 'discovery' | 'scope' | 'redirect' | 'store';
  /** A variable, host, URL or directory. */
  readonly where: string;
  readonly message: string;
  readonly hint?: string | undefined;
}
