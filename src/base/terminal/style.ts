import { styleText } from 'node:util';

export type Format = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';
export type Style = (format: Format, text: string) => string;

/** Colours where a terminal shows them and the person has not declined them (NO_COLOR). */
export function styleFor(stream: NodeJS.WriteStream): Style {
  const colourful = stream.isTTY && stream.hasColors();
  return (format, text) =>
    colourful && text !== '' ? styleText(format, text, { stream, validateStream: false }) : text;
}
