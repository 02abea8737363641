import type { Msg } from '@nats-io/transport-node';
import { Operate } from '../protocol/messages.js';
import { OPERATOR_ORDERS, type OperatorOrder } from '../protocol/subjects.js';
import { Recent } from './recent.js';
import type { SignedInbox } from './signed-inbox.js';

/** Orders that are remembered, so that one that is sent again later is not followed again. */
const MOST_REMEMBERED = 10_000;

/** Follows the orders to the worker itself, each once. */
export class OperatorOrders {
  readonly #seen = new Recent(MOST_REMEMBERED);

  constructor(
    private readonly inbox: SignedInbox,
    private readonly act: (order: OperatorOrder) => void,
  ) {}

  /** Returns whether the message is such an order, followed or not. */
  follow(message: Msg): boolean {
    const kind = message.subject.slice(message.subject.lastIndexOf('.') + 1);
    const order = OPERATOR_ORDERS.find((one) => one === kind);
    if (order === undefined) return false;
    const opened = this.inbox.open(Operate, message);
    // Operators repeat an order until they see its effect.
    if (opened && this.#seen.add(opened.token)) this.act(order);
    return true;
  }
}
