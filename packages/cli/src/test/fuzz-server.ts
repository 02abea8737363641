import { randomInt } from 'node:crypto';
import { countText, revealed, revealedLine, type Style } from '@pungi/core/base';
import {
  type Find,
  Fuzzer,
  findsSpec,
  isDestructive,
  nameOf,
  readOffer,
  shown,
  specText,
  type ToolFuzzed,
} from '@pungi/harness';
import type { Answer, CommandContext } from '../act.js';
import { replaceableFile, writeOwnFile } from '../own-files.js';
import { FAILED, type FuzzFlags } from './flags.js';
import { chooseTools, withServer } from './server.js';
import { serverFor } from './write-first-spec.js';

/** `pungi test fuzz`. */
export async function fuzzServer(
  argv: readonly string[],
  flags: FuzzFlags,
  context: CommandContext,
): Promise<Answer> {
  const { steps, style } = context;
  const { output, force = false, runs, timeout: timeoutMs } = flags;
  if (output !== undefined) replaceableFile(output, force);
  const seed = flags.seed ?? randomInt(2 ** 32);
  return withServer(argv, flags, context, async (connection, target, connect) => {
    const { signal } = steps;
    const offer = await readOffer(connection, { timeoutMs, signal });
    const { chosen, leftOut } = chooseTools(offer.tools, flags.tool, (tool) => !isDestructive(tool));
    const total = chosen.length * runs;
    const fuzzer = new Fuzzer({
      connection,
      connect,
      seed,
      runs,
      timeoutMs,
      signal,
      onCall: (tool, call) => {
        const before = chosen.findIndex((one) => nameOf(one) === tool) * runs;
        if (process.stderr.isTTY) steps.onStep(`${tool}: ${call + 1} of ${runs}`, (before + call) / total);
      },
    });
    const tools: ToolFuzzed[] = [];
    try {
      for (const tool of chosen) tools.push(await fuzzer.tool(tool));
    } finally {
      await fuzzer.close();
    }
    const finds = tools.flatMap((one) => one.finds);
    if (output !== undefined && finds.length > 0) {
      const server = serverFor(target, output);
      const specification = findsSpec(finds, { name: offer.server.name, server, seed, timeoutMs });
      const comments = ['Written by "pungi test fuzz". Each test fails until the server handles its input.'];
      writeOwnFile(output, specText(comments, specification), force);
    }
    const lines = [
      ...finds.map((find) => findText(find, style)),
      ...tools.map(({ tool, calls, refused, finds: found }) => {
        const sign = found.length > 0 ? style('red', '✗') : style('green', '✓');
        const notes = [
          ...(refused > 0 ? [`${refused} refused`] : []),
          ...(found.length > 0 ? [countText(found.length, 'find')] : []),
        ];
        return `${sign} ${revealedLine(tool)}: ${[countText(calls, 'call'), ...notes].join(', ')}\n`;
      }),
      ...(leftOut.length > 0
        ? [`${style('yellow', '○')} left out as destructive: ${revealedLine(leftOut.join(', '))}\n`]
        : []),
      ...(chosen.length === 0 ? ['There is no tool to call.\n'] : []),
      ...(output !== undefined && finds.length > 0 ? [`Written as tests: ${output}\n`] : []),
      style('dim', `seed ${seed}`),
      '\n',
    ];
    const json = { seed, server: offer.server, tools, leftOut };
    return { json, text: lines.join(''), status: finds.length > 0 ? FAILED : 0 };
  });
}

function findText({ tool, input, message, stderr }: Find, style: Style): string {
  const bar = style('red', '│');
  const log =
    stderr.trim() === ''
      ? []
      : [
          'stderr',
          ...revealed(stderr.trim())
            .split('\n')
            .map((line) => `  ${line}`),
        ];
  const lines = [revealedLine(message), `input ${revealedLine(shown(input))}`, ...log];
  return `${style('red', '✗')} ${style('bold', revealedLine(tool))}\n${lines.map((line) => `${bar} ${line}\n`).join('')}\n`;
}
