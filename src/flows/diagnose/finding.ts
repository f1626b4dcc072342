/** One thing that a look at the provider, the way to it or this machine brought. */
export interface Diagnostic {
  /** A fault keeps the profile from working; a warning may do so, or will soon; a note and what is as it should be are only told. */
  readonly level: 'fault' | 'warning' | 'note' | 'ok';
  readonly about: 'connection' | 'certificate' | 'clock' | 'discovery' | 'scope' | 'redirect' | 'store';
  /** A variable, an address or a place. */
  readonly where: string;
  readonly message: string;
  readonly hint?: string | undefined;
}
