import type { Client } from '@modelcontextprotocol/client';
import { ProtocolError, ProtocolErrorCode, specTypeSchemas } from '@modelcontextprotocol/client';
import type { TestCase } from '@pungi/core/contract';
import { isMap } from '../judge/answer.js';
import { cut } from '../judge/shown.js';

const MOST_KEPT = 10;

/** Answers the server's requests for input or completions with the answers of the running test, in order. */
export class AnswersToServer {
  #elicitation: TestCase['elicitation'] = [];
  #sampling: unknown[] = [];
  /** The most recent unanswered requests. */
  #unanswered: string[] = [];
  #inVain = 0;
  #asked = 0;

  attach(client: Client): void {
    client.setRequestHandler('elicitation/create', ({ params }) => {
      this.#asked += 1;
      const answer = this.#elicitation.shift();
      if (answer !== undefined) return answer as never;
      this.#missed(
        `The server requested input, but the test has no answer left: ${cut(params.message, 200)}`,
      );
      return { action: 'cancel' };
    });
    client.setRequestHandler('sampling/createMessage', ({ params }) => {
      this.#asked += 1;
      const isAnswered = this.#sampling.length > 0;
      const answer = completion(this.#sampling.shift());
      const problem = isAnswered ? problemWith(answer, params.tools !== undefined) : undefined;
      if (isAnswered && problem === undefined) return answer as never;
      const sentence = problem ?? 'The server requested a completion, but the test has no answer left.';
      this.#missed(sentence);
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, sentence);
    });
  }

  /** Resets for one test, or one attempt of it. */
  prepare({ elicitation, sampling }: Pick<TestCase, 'elicitation' | 'sampling'>): void {
    this.#elicitation = [...elicitation];
    this.#sampling = [...sampling];
    this.#unanswered = [];
    this.#asked = 0;
  }

  /** The number of unanswered requests; a mark for `unanswered`. */
  get inVain(): number {
    return this.#inVain;
  }

  unanswered(mark: number): string[] {
    const count = this.#inVain - mark;
    return count === 0 ? [] : this.#unanswered.slice(-count);
  }

  /**
   * Adds a request that the client itself refused, as one it does not support. Missing answers are already
   * counted.
   */
  refused(sentence: string): void {
    const last = this.#unanswered.at(-1);
    if (last === undefined || !sentence.endsWith(last)) this.#missed(sentence);
  }

  #missed(sentence: string): void {
    this.#inVain += 1;
    this.#unanswered = [...this.#unanswered.slice(1 - MOST_KEPT), sentence];
  }

  /** Unanswered requests, and unused answers. */
  problems(): string[] {
    const left = this.#elicitation.length + this.#sampling.length;
    if (left === 0 || this.#unanswered.length > 0) return [...this.#unanswered];
    return [`The test has ${this.#asked + left} answers, but the server asked ${this.#asked} times.`];
  }
}

/** Reported here, because the client would report it only to the server. */
function problemWith(answer: Record<string, unknown>, hasTools: boolean): string | undefined {
  const { CreateMessageResult: plain, CreateMessageResultWithTools: withTools } = specTypeSchemas;
  const { issues = [] } = (hasTools ? withTools : plain)['~standard'].validate(answer);
  const [first] = issues;
  if (first === undefined) return undefined;
  const path = (first.path ?? []).map((part) => (typeof part === 'object' ? part.key : part)).join('.');
  return `The completion in the test is not valid: ${path}: ${cut(first.message, 200)}`;
}

/** A text alone is the reply of the assistant; a complete completion only gets missing required fields. */
function completion(given: unknown): Record<string, unknown> {
  const whole = isMap(given) ? given : { content: String(given), stopReason: 'endTurn' };
  const { content } = whole;
  return {
    role: 'assistant',
    model: 'pungi-test',
    ...whole,
    ...(typeof content === 'string' ? { content: { type: 'text', text: content } } : {}),
  };
}
