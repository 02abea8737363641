/** The most bytes of UTF-8 for each unit of a text. */
const MOST_BYTES_OF_UNIT = 3;

/** Whether a text has at most so many bytes of UTF-8, without counting them. False says nothing. */
export const surelyFits = (text: string, bytes: number): boolean => text.length * MOST_BYTES_OF_UNIT <= bytes;
