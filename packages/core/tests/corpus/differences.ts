import type { Tier } from '../../src/contract/outcome.js';

/** Snippets that do in the sandbox what they do not in plain Python, for one reason. docs/compatibility.md has the same table. */
export interface Difference {
  reason: string;
  /** Where they differ; everywhere if not given. */
  tiers?: readonly Tier[];
  /** Minor versions of Python 3 on which they differ; all if not given. */
  python?: readonly number[];
  snippets: readonly string[];
}

export const DIFFERENCES: readonly Difference[] = [
  {
    reason:
      'stdout is written line by line, so that lines arrive while the run goes on, and before the output of processes that it starts',
    snippets: ['processes/subprocess_order_unflushed', 'concurrency/os_fork_unflushed'],
  },
  {
    reason: 'without a network namespace of its own, a run has no sockets but pairs',
    tiers: ['landlock'],
    snippets: [
      'network/server_in_subprocess',
      'packages/flask_server',
      'packages/requests_loopback',
      'concurrency/asyncio_streams',
      'concurrency/asyncio_unix_and_executor',
      'concurrency/mp_forkserver',
      'concurrency/mp_manager',
      'concurrency/mp_terminate_and_listener',
      'network/asyncio_udp_and_http',
      'network/bind_privileged',
      'network/flask_like_wsgi',
      'network/http_errors',
      'network/http_server',
      'network/http_server_json_api',
      'network/http_server_files',
      'network/interfaces',
      'network/ipv6',
      'network/mp_manager_remote',
      'network/names',
      'network/pass_descriptor',
      'network/raw_sockets',
      'network/selectors_and_nonblocking',
      'network/smtp_and_ftp_clients',
      'network/socketserver',
      'network/udp',
      'network/unix_datagrams',
      'network/unix_sockets',
      'network/xmlrpc',
    ],
  },
  {
    reason:
      'standard modules that Pungi itself uses are loaded before the script, so a file of the same name that the script writes itself does not hide them',
    snippets: ['modules/shadowing'],
  },
  {
    reason: 'await works outside of functions, where plain Python reports a syntax error',
    snippets: ['errors/syntax_await_outside'],
  },
  {
    reason: 'of the /proc of the host, a run sees figures of the machine and a part of its own entry',
    tiers: ['landlock'],
    snippets: ['system/proc_of_the_machine'],
  },
  {
    reason: 'the accounts of the host stay hidden, and there is no place for others',
    tiers: ['landlock'],
    snippets: ['system/users'],
  },
  {
    reason: 'the terminals of the host stay hidden, and there is no place for others',
    tiers: ['landlock'],
    snippets: ['processes/posix_spawn_and_pty', 'processes/pty_spawn'],
  },
];

/** The entry for a snippet in this place. */
export const differenceOf = (snippet: string, tier: Tier, minor: number): Difference | undefined =>
  DIFFERENCES.find(
    ({ snippets, tiers = [tier], python = [minor] }) =>
      snippets.includes(snippet) && tiers.includes(tier) && python.includes(minor),
  );
