/** The SGR codes that begin and end each format. */
const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

export type Format = keyof typeof CODES;
export type Style = (format: Format, text: string) => string;

/** Colours where a terminal shows them and the person has not declined them (NO_COLOR). */
export function styleFor(stream: NodeJS.WriteStream): Style {
  const colourful = stream.isTTY && stream.hasColors();
  return (format, text) => {
    const [begin, end] = CODES[format];
    return colourful && text !== '' ? `\x1b[${begin}m${text}\x1b[${end}m` : text;
  };
}
