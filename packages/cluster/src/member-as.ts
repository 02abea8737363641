import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PungiError } from '@pungi/core/base';
import { type Member, memberOf, type Role } from './credentials.js';
import { FILES } from './setup/nats-conf.js';

const WHOSE: Record<Role, { name: string; folder: string }> = {
  front: { name: 'a front end', folder: 'front-1' },
  worker: { name: 'a worker', folder: 'worker-1' },
  operator: { name: 'an operator', folder: 'operator' },
  owner: { name: 'the owner', folder: 'owner' },
};

/** Returns whose credentials a folder has, if it says so. Throws CONFIGURATION_ERROR if they are of none of these roles. */
export function memberAs(folder: string, roles: readonly [Role, ...Role[]]): Member | undefined {
  const wanted = WHOSE[roles[0]];
  const example = `--creds DIR/${wanted.folder}`;
  if (!existsSync(folder))
    throw new PungiError(
      'CONFIGURATION_ERROR',
      `There is no folder ${folder}: name the credentials with --creds.`,
    );
  const member = memberOf(folder);
  if (member === undefined && existsSync(join(folder, FILES.cluster)))
    throw new PungiError(
      'CONFIGURATION_ERROR',
      `${folder} is the folder of the whole cluster: give that of one member, ${example}.`,
    );
  if (member === undefined || roles.includes(member.role)) return member;
  throw new PungiError(
    'CONFIGURATION_ERROR',
    `The credentials in ${folder} are those of ${WHOSE[member.role].name}, and those of ${wanted.name} are needed: give ${example}.`,
  );
}
