import type { Client } from '@modelcontextprotocol/client';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import type { TestCase } from '../../contract/spec.js';
import { isMap } from '../judge/answer.js';
import { cut } from '../judge/shown.js';

const MOST_KEPT = 10;

/** What is answered when the server asks for input or for a completion: what the running test says, in order. */
export class AnswersToServer {
  #elicitation: TestCase['elicitation'] = [];
  #sampling: unknown[] = [];
  /** Of the last ones. */
  #unanswered: string[] = [];
  #inVain = 0;
  #asked = 0;

  attach(client: Client): void {
    client.setRequestHandler('elicitation/create', ({ params }) => {
      this.#asked += 1;
      const answer = this.#elicitation.shift();
      if (answer !== undefined) return answer as never;
      this.#missed(
        `The server asked for input, and the test has no answer left for it: ${cut(params.message, 200)}`,
      );
      return { action: 'cancel' };
    });
    client.setRequestHandler('sampling/createMessage', () => {
      this.#asked += 1;
      if (this.#sampling.length > 0) return completion(this.#sampling.shift()) as never;
      const sentence = 'The server asked for a completion, and the test has no answer left for it.';
      this.#missed(sentence);
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, sentence);
    });
  }

  /** For one test, or one attempt of it. */
  prepare({ elicitation, sampling }: Pick<TestCase, 'elicitation' | 'sampling'>): void {
    this.#elicitation = [...elicitation];
    this.#sampling = [...sampling];
    this.#unanswered = [];
    this.#asked = 0;
  }

  /** How often was asked in vain; a mark for `unanswered`. */
  get inVain(): number {
    return this.#inVain;
  }

  unanswered(mark: number): string[] {
    const count = this.#inVain - mark;
    return count === 0 ? [] : this.#unanswered.slice(-count);
  }

  #missed(sentence: string): void {
    this.#inVain += 1;
    this.#unanswered = [...this.#unanswered.slice(1 - MOST_KEPT), sentence];
  }

  /** What was asked in vain, and what was prepared in vain. */
  problems(): string[] {
    const left = this.#elicitation.length + this.#sampling.length;
    if (left === 0 || this.#unanswered.length > 0) return [...this.#unanswered];
    return [
      `The server should have asked ${this.#asked + left} times, as there are answers for it, and asked ${this.#asked} times.`,
    ];
  }
}

/** A text alone is what the assistant said. */
function completion(given: unknown): Record<string, unknown> {
  const rest = isMap(given) ? given : { content: { type: 'text', text: String(given) } };
  const { content } = rest;
  return {
    role: 'assistant',
    model: 'pungi-test',
    stopReason: 'endTurn',
    ...rest,
    ...(typeof content === 'string' ? { content: { type: 'text', text: content } } : {}),
  };
}
