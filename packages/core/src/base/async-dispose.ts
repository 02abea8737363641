/** Node before 20.4 has no such symbol. This is the one that TypeScript and other tools give it there. */
(Symbol as { asyncDispose?: symbol }).asyncDispose ??= Symbol.for('Symbol.asyncDispose');
