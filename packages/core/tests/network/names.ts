import type { Lookup } from '../../src/network/names.js';

/** A name server: each name has its addresses, or a function that gives them anew at each question. */
export type Answers = Record<string, string[] | (() => string[])>;

export const lookupIn =
  (answers: Answers): Lookup =>
  async (name) => {
    const found = answers[name];
    if (!found) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
    const addresses = typeof found === 'function' ? found() : found;
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
