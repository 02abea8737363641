import { randomNumbers } from '../support/random-numbers.js';

/** Lines that no client should send, the same ones for the same seed. */
export class HostileMessages {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = randomNumbers(seed);
  }

  line(): Buffer {
    const text = JSON.stringify(this.#message());
    const at = this.#below(text.length);
    switch (this.#below(14)) {
      case 0:
        return Buffer.from(Array.from({ length: this.#below(300) }, () => this.#below(256))).map((byte) =>
          byte === 10 ? 32 : byte,
        ) as Buffer;
      case 1: {
        const depth = this.#one([40, 400, 20_000]);
        return Buffer.from(
          this.#one(['['.repeat(depth), '{"a":'.repeat(depth), `${'['.repeat(depth)}${']'.repeat(depth)}`]),
        );
      }
      case 2:
        return Buffer.from(JSON.stringify(Array.from({ length: this.#below(6) }, () => this.#message())));
      case 3:
        return Buffer.from(
          this.#one([text.slice(0, at), text + text, `\uFEFF${text}`, `${text}\r`, `${text},`]),
        );
      case 4:
        return Buffer.from(
          text.slice(0, at) + this.#one(['\0', '\\ud800', '\u2028', '"', '\\', '\x7f']) + text.slice(at),
        );
      case 5:
        return Buffer.from(
          text.replace('"id":', `"id":${this.#one(['1e999', '-0.0', '9'.repeat(6000), 'NaN', '[]'])},"id":`),
        );
      case 6:
        return Buffer.from(
          text.replace('{', '{"__proto__":{"method":"ping"},"method":"tools/call","method":[],'),
        );
      case 7:
        return Buffer.concat([Buffer.from(text), Buffer.from([0xff, 0xc3, 0x28])]);
      default:
        return Buffer.from(text);
    }
  }

  #message(): Record<string, unknown> {
    const message: Record<string, unknown> = {
      jsonrpc: '2.0',
      id: this.#one([this.#below(50), `text ${this.#below(50)}`]),
      method: this.#one(METHODS),
      params: this.#params(),
    };
    for (const name of Object.keys(message)) {
      const fate = this.#below(25);
      if (fate === 0) delete message[name];
      if (fate === 1) message[name] = this.#value(0);
    }
    return message;
  }

  /** Often almost right, so that what lies deeper is met as well. */
  #params(): unknown {
    if (this.#below(6) === 0) return this.#value(0);
    const params: Record<string, unknown> = {
      name: this.#one(NAMES),
      arguments: this.#one([
        {},
        null,
        [],
        { orders: this.#value(0) },
        { item: this.#value(1) },
        { items: this.#value(1) },
      ]),
      requestId: this.#one([this.#below(50), `text ${this.#below(50)}`, this.#value(2)]),
      protocolVersion: this.#one(['2025-03-26', '2024-11-05', '2026-07-28', '1', 7, null]),
      notifications: this.#value(2),
    };
    if (this.#below(4) === 0) {
      params['_meta'] = {
        progressToken: this.#value(2),
        [`${META}protocolVersion`]: this.#one(['2026-07-28', '2026-07-28', '2030-01-01', 3, null]),
        ...(this.#below(3) > 0 && { [`${META}clientCapabilities`]: this.#one([{}, [], this.#value(2)]) }),
      };
    }
    return params;
  }

  #value(depth: number): unknown {
    const kind = this.#below(depth < 4 ? 9 : 6);
    if (kind < 6)
      return this.#one([
        null,
        true,
        this.#below(1000) - 500,
        this.#next() * 10 ** this.#below(300),
        this.#one(TEXTS),
        -1,
      ]);
    if (kind < 7) return Array.from({ length: this.#below(5) }, () => this.#value(depth + 1));
    return Object.fromEntries(
      Array.from({ length: this.#below(5) }, () => [this.#one(TEXTS), this.#value(depth + 1)]),
    );
  }

  #below = (bound: number): number => Math.floor(this.#next() * bound);
  #one = <T>(choices: readonly T[]): T => choices[this.#below(choices.length)]!;
}

const META = 'io.modelcontextprotocol/';
const METHODS = [
  ...[
    'initialize',
    'ping',
    'tools/list',
    'tools/call',
    'server/discover',
    'subscriptions/listen',
    'ListTools',
  ],
  ...[
    'CallTool',
    'GetToolInfo',
    'HealthCheck',
    'notifications/cancelled',
    'notifications/initialized',
    'none',
    '',
  ],
  ...['__class__', 'resources/read', 'logging/setLevel', 'tools/call\0', 'TOOLS/CALL'],
];
const NAMES = ['bill', 'price', 'shop', 'none', '__init__', '../../etc/passwd', 'bill\0', '', 3, null];
const TEXTS = [
  ...[
    '',
    'item',
    'count',
    'orders',
    '__proto__',
    'constructor',
    'é',
    '\ud800',
    '\0',
    'x'.repeat(5000),
    '../..',
  ],
  ...['"}{', '\n{"jsonrpc":"2.0","id":1,"result":{}}\n', '1e999', '[[[[', '--help', '-', '$(id)', '%s%n'],
];
