import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pungi } from '../../packages/cli/tests/pungi.js';
import { findInterpreters } from '../../scripts/interpreters.mjs';
import { py } from '../support/python.js';

/** Every Python of this machine that wrapped folders must run with. */
export const PYTHONS = findInterpreters() as { path: string; version: string }[];

const SHOP = py`
  """Orders of a shop."""
  import argparse, json, os, sys, time
  from dataclasses import dataclass
  from typing import Literal

  from prices import PRICES

  @dataclass
  class Order:
      item: Literal["pen", "ink"]
      count: int = 1

  @dataclass
  class Bill:
      lines: list[str]
      total: float

  def bill(orders: list[Order], discount: float = 0.0) -> Bill:
      """Write a bill.

      Args:
          orders: What was bought.
          discount: A part of one.
      """
      print("adding up", len(orders), "orders")
      lines = [f"{order.count} {order.item}" for order in orders]
      return Bill(lines, sum(PRICES[order.item] * order.count for order in orders) * (1 - discount))

  def price(item: str) -> int:
      """Tell a price."""
      return PRICES[item]

  def count_down(start: int = 3) -> str:
      """Say numbers."""
      for number in range(start, 0, -1):
          print(number)
      # The clients of the SDK forget who listens when they read the result together with the notifications before it.
      time.sleep(0.5)
      return "done"

  def wait_long():
      """Wait, after it has said which process it is."""
      print(os.getpid())
      time.sleep(600)

  if __name__ == "__main__":
      parser = argparse.ArgumentParser(description="Tells prices.")
      parser.add_argument("items", nargs="+", help="what to look for")
      parser.add_argument("--currency", choices=["EUR", "USD"], default="EUR")
      args = parser.parse_args()
      print(json.dumps({item: f"{PRICES[item]} {args.currency}" for item in args.items}))
`;

/** The tools of the folder. */
export const SHOP_TOOLS = ['bill', 'price', 'count_down', 'wait_long', 'shop'];

/** A folder as "pungi wrap shop.py -o shop-mcp" makes it, below the given one. */
export async function wrapShop(below: string): Promise<string> {
  const own = join(below, 'own');
  mkdirSync(own);
  writeFileSync(join(own, 'shop.py'), SHOP);
  writeFileSync(join(own, 'prices.py'), 'PRICES = {"pen": 2, "ink": 5}\n');
  const folder = join(below, 'shop-mcp');
  const { status, stderr } = await pungi(['wrap', 'shop.py', '-o', folder], { cwd: own });
  if (status !== 0) throw new Error(`pungi wrap: ${stderr}`);
  return folder;
}
