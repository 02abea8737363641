/** A contender that cannot take part here; the message is a sentence that says what is missing. */
export class Unavailable extends Error {}
