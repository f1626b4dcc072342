/** A request that the control API rejects. */
export class ControlError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly issues?: readonly string[],
    readonly headers?: Readonly<Record<string, string>>,
  ) {
    super(message);
  }
}
