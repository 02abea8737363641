import { stripVTControlCharacters } from 'node:util';

// Control characters but for tab and line feed, and the marks that turn the direction of what follows.
const UNSEEN = /[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu;

/** Text that others wrote, such as a description or a tool's words, without what would command the terminal. */
export function printable(text: string): string {
  const plain = stripVTControlCharacters(text.replaceAll('\r\n', '\n'));
  return plain.replace(UNSEEN, (one) => (one === '\n' || one === '\t' ? one : '�'));
}

export const oneLine = (text: string): string => printable(text.replace(/\s+/g, ' ').trim());

export const indent = (text: string, by: string): string => printable(text).trimEnd().replace(/^/gm, by);

/** The same with every character in its place: in what an auditor reads, a sequence must not take others with it. */
export const revealed = (text: string): string =>
  text.replaceAll('\r\n', '\n').replace(UNSEEN, (one) => {
    if (one === '\n' || one === '\t') return one;
    return one < ' ' ? String.fromCharCode(0x2400 + one.charCodeAt(0)) : '�';
  });

export const revealedLine = (text: string): string => revealed(text.replace(/\s+/g, ' ').trim());
