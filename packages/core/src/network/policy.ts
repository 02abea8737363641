import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { whyForbidden } from './addresses.js';
import { type Target, writeHost, writeTarget } from './host-name.js';
import { allows, type HostRule, USUAL_PORTS } from './host-rules.js';
import type { Names } from './names.js';
import { Refusal } from './refusal.js';
import type { Timeouts } from './timeouts.js';

const RULES_SHOWN = 8;

/** Decides which hosts may be reached, and at which addresses. */
export class Policy {
  constructor(
    private readonly rules: readonly HostRule[],
    private readonly names: Names,
    readonly timeouts: Timeouts,
  ) {}

  /**
   * Returns the addresses to connect to, all of them checked; the caller must not resolve the name again. `givenUp`
   * rejects it with the signal's reason.
   */
  async addressesOf(target: Target, asker: object, givenUp: AbortSignal): Promise<LookupAddress[]> {
    const { host } = target;
    if (!this.#allows(target)) throw this.#notListed(target);
    if (host.kind === 'address') return [{ address: host.text, family: isIP(host.text) }];
    const found = await this.names.find(host.text, asker, givenUp);
    for (const { address } of found) this.#check(target, address);
    return found;
  }

  #allows({ host, port }: Target): boolean {
    return this.rules.some((rule) => allows(rule, host, port));
  }

  /** One private address is enough to refuse: the name server decides which one would be used. */
  #check({ host, port }: Target, address: string): void {
    const why = whyForbidden(address);
    const literal: Target = { host: { kind: 'address', text: address }, port };
    if (why === undefined || this.#allows(literal)) return;
    throw new Refusal(
      403,
      `${host.text} leads to ${address}, ${why}, which no name may lead to. If it is meant, list "${writeTarget(literal)}" in the profile's network.allow as well.`,
    );
  }

  #notListed(target: Target): Refusal {
    const asked = writeTarget(target);
    const shown = this.rules.slice(0, RULES_SHOWN).map(({ text }) => text);
    const more = this.rules.length - shown.length;
    const listed = `${shown.join(', ') || 'nothing'}${more > 0 ? ` and ${more} more` : ''}`;
    return new Refusal(
      403,
      `The profile does not allow ${asked}; its network.allow lists ${listed}. Add "${entryFor(target)}" there to reach it.`,
    );
  }
}

const entryFor = (target: Target) =>
  USUAL_PORTS.includes(target.port) ? writeHost(target.host) : writeTarget(target);
