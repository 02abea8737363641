/** A byte order mark at the start of a file is no part of its text, for Python as for every editor. */
export const withoutMark = (text: string): string => text.replace(/^\ufeff/, '');
