import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { countText } from '../../base/terminal.js';
import { replaceableFile, writeOwnLines } from '../own-output.js';
import { type Filters, filterOptions, queryOf } from './filters.js';
import { type End, option, subcommand, withReader } from './subcommand.js';

interface Flags extends Filters {
  output?: string;
  force?: boolean;
}

export const exportCommand = (end: End): Command =>
  subcommand<[], Flags>('export', end, {
    about: 'write entries as lines of JSON, the newest first',
    options: [
      ...filterOptions('at most so many; all if not given'),
      option('-o, --output <file>', 'write to this file instead of standard output'),
      option('-f, --force', 'replace the file if it exists'),
    ],
    help: `  pungi audit export --since 30d -o november.jsonl
  pungi audit export --verdict denied | wc -l

Standard output has the lines and nothing else, with --json, too.`,
    run: ({ steps }, flags) =>
      withReader(flags, async (reader) => {
        const { output, force = false } = flags;
        let entries = 0;
        async function* lines() {
          for await (const line of reader.export(queryOf(flags))) {
            steps.signal.throwIfAborted();
            entries += 1;
            yield line;
          }
        }
        if (output === undefined || output === '-') {
          await print(lines());
          return { text: '' };
        }
        replaceableFile(output, force);
        await writeOwnLines(output, lines(), force);
        const text = `Wrote ${countText(entries, 'entry', 'entries')} to ${output}.\n`;
        return { json: { file: output, entries }, text };
      }),
  });

/** As fast as it is read; a reader that goes away, such as `head`, has enough. */
async function print(lines: AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(lines), process.stdout, { end: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}
