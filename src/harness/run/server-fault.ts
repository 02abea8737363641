import type { Failure } from '../../contract/test-report.js';

/** What a server did, or did not do, so that there is no answer to judge. The message is a sentence for a person. */
export class ServerFault extends Error {
  readonly kind: Extract<Failure['kind'], 'timeout' | 'protocol' | 'server' | 'cancellation'>;

  constructor(kind: ServerFault['kind'], message: string) {
    super(message);
    this.name = 'ServerFault';
    this.kind = kind;
  }

  toFailure(): Failure {
    return { kind: this.kind, message: this.message };
  }
}
