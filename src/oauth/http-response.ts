import type { Secret } from '../redaction/secret.ts';

/** A reply as the transport received it. */
export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** What the transport added to the request: who answers may repeat it. */
  readonly secrets?: readonly Secret[] | undefined;
}

/** Whether the status says yes; the body may still say no. */
export function isSuccess({ status }: HttpResponse): boolean {
  return status >= 200 && status < 300;
}
