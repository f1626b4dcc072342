/** Settings of all requests of a script, which a request can override. */
export interface RequestSettings {
  /** Whether cookies are stored and sent. Default: false. */
  readonly cookies?: boolean | undefined;
  /** Number of redirects to follow. Default: 0. */
  readonly redirects?: number | undefined;
  readonly timeoutMs?: number | undefined;
  /** Paths of PEM files. */
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly certKeyFile?: string | undefined;
}
