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

/** Further snippets that differ when they are one call of a session: the process goes on after them. */
export const SESSION_DIFFERENCES: readonly Difference[] = [
  {
    reason:
      'the process goes on after the call: threads are not waited for, exit handlers and finalizers do not run yet',
    snippets: [
      'concurrency/thread_outlives_main',
      'exit/atexit_after_error',
      'exit/atexit_exits',
      'exit/atexit_order',
      'exit/atexit_stderr_after_traceback',
      'exit/coroutine_in_a_traceback',
      'exit/del_after_error',
      'exit/del_at_exit',
      'exit/del_at_exit_order',
      'exit/exit_paths_of_threads_and_children',
      'exit/flush_fails',
      'exit/globals_at_exit',
      'exit/open_file_is_flushed',
      'exit/sys_last',
      'exit/thread_error_at_end',
      'exit/threading_atexit',
      'exit/weakref_finalize',
      'streams/burst_at_exit',
    ],
  },
  {
    reason: 'the script of the second call is main_2.py, beside main.py of the first',
    snippets: [
      'data/pickle_main_classes',
      'files/atomic_replace_and_fsync',
      'files/script_folder_listing',
      'files/shutil_operations',
      'files/special_names',
      'files/walk_tree',
      'introspection/frames_and_locals',
      'introspection/gc_and_tracemalloc',
      'introspection/inspect_source',
      'modules/resources',
      'network/server_in_subprocess',
      'processes/names_in_proc',
      'processes/shell_tools',
      'system/proc_and_meminfo',
      'system/proc_files',
      'tools/config_and_paths',
      'tools/profile_output',
      'tools/timeit_and_profile',
    ],
  },
  {
    reason:
      'PYTHONPATH, and files in the place of standard modules, are only noticed if the first call has them',
    snippets: ['modules/pythonpath', 'modules/shadowing_given'],
  },
  {
    reason: 'a limit that a call sets for its own process holds for the calls after it',
    snippets: ['system/resource_usage'],
  },
];

/** The entry for a snippet in this place. */
export const differenceOf = (snippet: string, tier: Tier, minor: number): Difference | undefined =>
  find(DIFFERENCES, snippet, tier, minor);

export const differenceInSession = (snippet: string, tier: Tier, minor: number): Difference | undefined =>
  find([...SESSION_DIFFERENCES, ...DIFFERENCES], snippet, tier, minor);

const find = (differences: readonly Difference[], snippet: string, tier: Tier, minor: number) =>
  differences.find(
    ({ snippets, tiers = [tier], python = [minor] }) =>
      snippets.includes(snippet) && tiers.includes(tier) && python.includes(minor),
  );
