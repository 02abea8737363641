import { completable } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Pungi } from '../../pungi.js';

/** Completed from the environments that there are; those that the server made for scripts have names for nobody. */
export const venvName = ({ environments }: Pungi, about: string) =>
  completable(z.string().describe(about), async (begun) =>
    (await environments.list())
      .filter(({ isInline, venvName }) => !isInline && venvName.startsWith(begun ?? ''))
      .map(({ venvName }) => venvName),
  ).optional();

/** As a block that no content can end early. */
export function fence(content: string, language = ''): string {
  let ticks = '```';
  for (const [found] of content.matchAll(/`{3,}/g)) if (found.length >= ticks.length) ticks = `${found}\``;
  return `${ticks}${language}\n${content.trimEnd()}\n${ticks}`;
}

export const asArgument = (name: string, value: unknown) => `${name}: ${JSON.stringify(value)}`;
