/** A contender that cannot take part here; the message says what is missing. */
export class Unavailable extends Error {}
