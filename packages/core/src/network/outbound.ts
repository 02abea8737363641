import type { LookupAddress } from 'node:dns';
import { connect, type Socket } from 'node:net';
import { type Target, writeTarget } from './host-name.js';
import type { Policy } from './policy.js';
import { Refusal } from './refusal.js';
import type { RunConnections } from './run-connections.js';

/**
 * Decides whether a request of a run may proceed, records the decision, and connects. The signal cuts the connection.
 */
export async function reach(
  target: Target,
  policy: Policy,
  run: RunConnections,
  givenUp: AbortSignal,
): Promise<Socket> {
  const addresses = await decide(target, policy, run, givenUp);
  givenUp.throwIfAborted();
  const socket = open(target, addresses);
  run.hold(socket);
  givenUp.addEventListener('abort', () => socket.destroy(), { once: true });
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Refusal(504, `${writeTarget(target)} did not answer in time.`)),
      policy.timeouts.connect,
    );
    socket.once('connect', resolve);
    socket.once('close', () => reject(new Refusal(502, `${writeTarget(target)} could not be reached.`)));
    socket.once('connect', () => clearTimeout(timer));
    socket.once('close', () => clearTimeout(timer));
  }).catch((error) => {
    socket.destroy();
    throw error;
  });
  return socket;
}

async function decide(
  target: Target,
  policy: Policy,
  run: RunConnections,
  givenUp: AbortSignal,
): Promise<LookupAddress[]> {
  try {
    const addresses = await policy.addressesOf(target, run, givenUp);
    run.record(target, null);
    return addresses;
  } catch (error) {
    if (error instanceof Refusal) run.record(target, error.message);
    throw error;
  }
}

/** Connects to the checked addresses, one after the other. */
function open({ host, port }: Target, addresses: LookupAddress[]): Socket {
  const socket = connect({
    host: host.text,
    port,
    allowHalfOpen: true,
    autoSelectFamily: true,
    lookup: (_name, { all }, answer) => {
      if (all) answer(null, addresses);
      else answer(null, addresses[0]!.address, addresses[0]!.family);
    },
  });
  socket.on('error', () => socket.destroy());
  return socket;
}
