import type { Failure } from '../../contract/test-report.js';

/** What a server did, or did not do, so that there is no answer to judge. The message is a sentence for a person. */
export class ServerFault extends Error {
  readonly kind: Extract<Failure['kind'], 'timeout' | 'protocol' | 'server' | 'cancellation'>;

  constructor(
    kind: ServerFault['kind'],
    message: string,
    /** Where it answered with one that is not 200, and nothing more. */
    readonly httpStatus?: number,
  ) {
    super(message);
    this.name = 'ServerFault';
    this.kind = kind;
  }

  toFailure(): Failure {
    return { kind: this.kind, message: this.message };
  }
}
