import type { SessionInfo } from '@pungi/core/contract';
import { z } from 'zod';
import { advertiseArguments, READ_ONLY } from './advertise.js';
import { answer, type Call, reply, type Tool } from './tool.js';
import { countOf } from './venv-arguments.js';

const NONE = z.strictObject({});

export const listSessions = (): Tool => ({
  name: 'list_sessions',
  title: 'List sessions',
  description: 'List your sessions, and when each ends unless it is used.',
  annotations: READ_ONLY,
  inputSchema: advertiseArguments(NONE),
  answer: (args, call) =>
    answer(NONE, args, call, async () => reply(call, { sessions: sessionsOf(call) }, formatSessions)),
});

/**
 * On stdio the client is alone. Over HTTP a client without a token is known only by the name that it gives itself:
 * the list then shows the beginning of a handle, which is not enough to use it.
 */
function sessionsOf({ pungi, caller, ctx }: Call): SessionInfo[] {
  const isKnown = ctx.http === undefined || caller.token !== null;
  const shown = (id: string) => (isKnown ? id : `${id.slice(0, 14)}…`);
  return pungi.sessions(caller).map((one) => ({ ...one, id: shown(one.id) }));
}

const formatSessions = ({ sessions }: { sessions: SessionInfo[] }): string =>
  sessions.length === 0
    ? 'There are no sessions.'
    : sessions
        .map(
          ({ id, environment, calls, busy, alive, checkpoints, endsAt }) =>
            `${id}: ${[
              environment ?? 'default',
              countOf(calls, 'run'),
              ...(busy ? ['busy'] : []),
              ...(alive ? [] : ['its process has ended']),
              ...(checkpoints.length > 0 ? [`checkpoints ${checkpoints.join(' ')}`] : []),
            ].join(', ')}, until ${endsAt}`,
        )
        .join('\n');

const ACTIONS = ['checkpoint', 'restore', 'fork'] as const;

const Copying = z
  .strictObject({
    session: z.string().max(100).describe('Its handle'),
    action: z.enum(ACTIONS).describe('How'),
    checkpoint: z.string().max(100).optional().describe('To restore'),
  })
  .refine(
    ({ action, checkpoint }) => (action === 'restore') === (checkpoint !== undefined),
    'give checkpoint to restore, and only then',
  );

export const checkpointSession = (): Tool => ({
  name: 'checkpoint_session',
  title: 'Checkpoints',
  description: 'Save, restore or fork a session.',
  annotations: { openWorldHint: false },
  inputSchema: advertiseArguments(Copying),
  answer: (args, call) =>
    answer(Copying, args, call, async ({ session, action, checkpoint = '' }) => {
      const { pungi, caller } = call;
      if (action === 'fork')
        return reply(call, await pungi.forkSession(session, caller), ({ id }) => `session: ${id}`);
      const done =
        action === 'restore'
          ? await pungi.restore(session, checkpoint, caller)
          : await pungi.checkpoint(session, caller);
      return reply(
        call,
        done,
        (state) => `${action === 'restore' ? 'restored' : 'checkpoint'}: ${state.checkpoint}`,
      );
    }),
});

const Ending = z.strictObject({ session: z.string().max(100).describe('Its handle') });

export const endSession = (): Tool => ({
  name: 'end_session',
  title: 'End a session',
  description: 'End a session, with its variables, files and run.',
  annotations: { openWorldHint: false },
  inputSchema: advertiseArguments(Ending),
  answer: (args, call) =>
    answer(Ending, args, call, async ({ session }) => {
      call.pungi.endSession(session, call.caller);
      return reply(call, { ended: session }, () => 'The session has ended.');
    }),
});
