import { dirname, relative, resolve } from 'node:path';
import { countText, oneLine } from '@pungi/core/base';
import { FirstSpecWriter, type JsonMap, readOffer, specText } from '@pungi/harness';
import type { Answer, CommandContext } from '../act.js';
import { replaceableFile, writeOwnFile } from '../own-files.js';
import type { InitFlags } from './flags.js';
import { type Target, withServer } from './server.js';

/** `pungi test init`. */
export async function writeFirstSpec(
  argv: readonly string[],
  flags: InitFlags,
  context: CommandContext,
): Promise<Answer> {
  const { output, force = false } = flags;
  const { steps, style } = context;
  // Checked before the server is started, not after all its tools were called.
  if (output !== '-') replaceableFile(output, force);
  return withServer(argv, flags, context, async (connection, target) => {
    const settings = { timeoutMs: flags.timeout, signal: steps.signal };
    const offer = await readOffer(connection, settings);
    const writer = new FirstSpecWriter(connection, settings, flags.call);
    const written = await writer.write(offer, serverFor(target, output));
    const { specification, tests, skipped, leftOut } = written;
    const content = specText(
      [
        `Written by "pungi test init" for ${oneLine(offer.server.name)} ${oneLine(offer.server.version)}.`,
        'Run it with "pungi test"; check it with "pungi test validate".',
      ],
      specification,
    );
    if (output !== '-') writeOwnFile(output, content, force);
    const json = {
      file: output === '-' ? null : output,
      tests,
      skipped,
      leftOut,
      problems: offer.problems,
      specification,
    };
    if (output === '-') return { json, text: content };
    const lines = [
      `${style('green', '✓')} ${output}: ${countText(tests, 'test')} of ${oneLine(offer.server.name)}`,
      ...(skipped === 0
        ? []
        : [`${style('yellow', '○')} ${countText(skipped, 'test')} to review: skipped, with the reason`]),
      ...(leftOut === 0
        ? []
        : [`${style('yellow', '·')} ${leftOut} more tools, resources or prompts were left out`]),
      ...offer.problems.map((problem) => `${style('yellow', '!')} ${oneLine(problem)}`),
      `Run it with: pungi test ${output}`,
    ];
    return { json, text: lines.map((line) => `${line}\n`).join('') };
  });
}

/** The server as the specification in that file starts it, without defaults. */
export function serverFor({ server, folder }: Target, output: string): JsonMap {
  const { command, args, env, url, headers, protocol, sandbox } = server;
  const from = output === '-' ? process.cwd() : dirname(resolve(output));
  const workingDir = relative(from, resolve(folder, server.working_dir ?? '.'));
  return {
    ...(command === undefined ? { transport: 'http', url } : { command, args }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(command === undefined || workingDir === '' ? {} : { working_dir: workingDir }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(protocol === 'auto' ? {} : { protocol }),
    ...(sandbox ? { sandbox } : {}),
  };
}
