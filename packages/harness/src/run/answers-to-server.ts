import type { Client } from '@modelcontextprotocol/client';
import { ProtocolError, ProtocolErrorCode, specTypeSchemas } from '@modelcontextprotocol/client';
import type { TestCase } from '@pungi/core/contract';
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
    client.setRequestHandler('sampling/createMessage', ({ params }) => {
      this.#asked += 1;
      const isAnswered = this.#sampling.length > 0;
      const answer = completion(this.#sampling.shift());
      const problem = isAnswered ? problemWith(answer, params.tools !== undefined) : undefined;
      if (isAnswered && problem === undefined) return answer as never;
      const sentence =
        problem ?? 'The server asked for a completion, and the test has no answer left for it.';
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

  /** What the client itself refused, such as what it has not said it can do; an answer that we lack is told already. */
  refused(sentence: string): void {
    const last = this.#unanswered.at(-1);
    if (last === undefined || !sentence.endsWith(last)) this.#missed(sentence);
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

/** Told here, because the client would tell the server alone. */
function problemWith(answer: Record<string, unknown>, hasTools: boolean): string | undefined {
  const { CreateMessageResult: plain, CreateMessageResultWithTools: withTools } = specTypeSchemas;
  const { issues = [] } = (hasTools ? withTools : plain)['~standard'].validate(answer);
  const [first] = issues;
  if (first === undefined) return undefined;
  const path = (first.path ?? []).map((part) => (typeof part === 'object' ? part.key : part)).join('.');
  return `The answer that the test has for a completion is not valid: ${path}: ${cut(first.message, 200)}`;
}

/** A text alone is all that the assistant said; a whole completion is left as it is, but for what it must have. */
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
