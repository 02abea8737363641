import { forward } from './forward.js';
import { parseHostRule } from './hosts.js';
import { type Lookup, lookUp, Names } from './names.js';
import { Policy } from './policy.js';
import { type ProxyHandler, startProxyServer, TIMEOUTS, type Timeouts } from './proxy-server.js';
import { Capacity, type NetworkDecision, RunConnections } from './run-connections.js';
import { tunnel } from './tunnel.js';

export interface NetworkDoor {
  /** The socket for the forwarders of runs: HTTP after a line that names the caller. */
  socket: string;
  /**
   * Admits the connections of a caller for a run. Returns a function that ends the admission and cuts the
   * connections.
   */
  admit(caller: string, run: string): () => void;
  close(): Promise<void>;
}

/** Opens networks for the hosts that profiles allow. One for the whole server. */
export class Network {
  readonly #names: Names;
  readonly #capacity = new Capacity();

  constructor(
    lookup: Lookup = lookUp,
    private readonly timeouts: Timeouts = TIMEOUTS,
  ) {
    this.#names = new Names(lookup, timeouts.lookup);
  }

  /** `hosts` are entries for parseHostRule. */
  async open(
    hosts: readonly string[],
    onDecision: (decision: NetworkDecision) => void,
  ): Promise<NetworkDoor> {
    const policy = new Policy(hosts.map(parseHostRule), this.#names, this.timeouts);
    const handler: ProxyHandler = {
      answer: (request, response, run) => forward(request, response, policy, run),
      tunnel: (request, client, head, run) => tunnel(request, client, head, policy, run),
    };
    const { socket, admit, close } = await startProxyServer(handler, this.timeouts, this.#capacity);
    return {
      socket,
      admit: (caller, run) => admit(caller, new RunConnections(run, onDecision)),
      close,
    };
  }
}
