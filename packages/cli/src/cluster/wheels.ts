import { countText } from '@pungi/core/base';
import { type Command, InvalidArgumentError } from 'commander';
import type { Parsed } from '../act.js';
import { clusterOf } from '../cluster-settings.js';
import { readConfig } from '../config-flags.js';
import { asText, readOwnFile } from '../own-files.js';
import { type End, option, subcommand } from './subcommand.js';

interface Flags extends Parsed {
  mostMb: number;
}

const MOST_MB = 4096;

export const wheels = (end: End): Command =>
  subcommand<[lock: string, folder: string], Flags>('wheels', end, {
    about: 'store packages for workers that reach no package index',
    operands: [
      ['<lock>', 'the lock file of an environment'],
      ['<folder>', 'the folder with the wheels'],
    ],
    options: [
      option('--most-mb <mb>', 'what all stored wheels may take').argParser(asMegabytes).default(MOST_MB),
    ],
    help: `  pungi env export ml -o ml.lock --cluster tls://nats.example.org:4222 --creds prod/front-1
  pip download --no-deps --require-hashes -r ml.lock -d wheels
  pungi cluster wheels ml.lock wheels --cluster tls://nats.example.org:4222 --creds prod/front-1

Only files whose hash the lock names are stored. Those that were stored the longest time ago make room.
It needs the credentials of a front end.`,
    async run(_, { mostMb, ...flags }, file, folder) {
      const lock = asText(readOwnFile(file), file);
      const { address, creds } = await clusterOf(readConfig(flags), 'front');
      const { pushWheels } = await import('@pungi/cluster');
      const { pushed, others, removed } = await pushWheels({ address, creds, lock, folder, mostMb });
      const left = others.length > 0 ? ` The lock does not name ${others.join(', ')}.` : '';
      const gone = removed > 0 ? ` ${countText(removed, 'older one')} made room.` : '';
      return {
        json: { stored: pushed.map(({ name, sha256 }) => ({ name, sha256 })), others, removed },
        text: `Stored ${countText(pushed.length, 'wheel')}.${gone}${left}\n`,
      };
    },
  });

function asMegabytes(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('must be a whole number from 1 on.');
}
