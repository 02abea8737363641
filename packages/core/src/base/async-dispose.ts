/** Node before 20.4 lacks this symbol. TypeScript and other tools define the same one. */
(Symbol as { asyncDispose?: symbol }).asyncDispose ??= Symbol.for('Symbol.asyncDispose');
