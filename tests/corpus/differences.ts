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
    reason: "`/dev/shm` is the host's, so there are no named semaphores and no named shared memory",
    tiers: ['landlock'],
    snippets: [
      'concurrency/futures_broken_pool',
      'concurrency/futures_process_error',
      'concurrency/futures_processes',
      'concurrency/mp_pool',
      'concurrency/mp_pool_exception',
      'concurrency/mp_process_and_queue',
      'concurrency/mp_shared_memory',
      'concurrency/mp_shared_values',
      'concurrency/mp_synchronisation',
    ],
  },
  {
    reason:
      'modes, times and attributes of files cannot be changed, since landlock does not bound them; the calls succeed without effect',
    tiers: ['landlock'],
    snippets: [
      'files/permissions',
      'files/times',
      'system/xattr_and_statvfs',
      'processes/python_is_of_the_environment',
    ],
  },
  {
    reason: '`sendfile` between files and `splice` are refused: they pin memory that nobody counts',
    snippets: ['files/sendfile_and_copy'],
  },
  {
    reason:
      'standard modules that Pungi itself uses are loaded before the script, so a file of the same name does not hide them',
    snippets: ['modules/shadowing', 'system/modules_loaded'],
  },
];

/** Faults that are still to be fixed: whoever fixes one removes its snippets here. */
export const PENDING: ReadonlySet<string> = new Set([
  'classes/typing_features',
  'concurrency/asyncio_never_awaited',
  'concurrency/asyncio_task_never_retrieved',
  'concurrency/mp_spawn_without_guard',
  'concurrency/thread_exception',
  'data/tar_and_gzip',
  'errors/attribute_suggestion',
  'errors/custom_exception',
  'errors/excepthook',
  'errors/excepthook_broken',
  'errors/generator_exit_and_base',
  'errors/invalid_escape',
  'errors/keyboard_interrupt',
  'errors/keyboard_interrupt_by_signal',
  'errors/name_suggestions',
  'errors/recursion_exact',
  'errors/recursion_uncaught',
  'errors/resource_warning',
  'errors/str_of_exception_fails',
  'errors/syntax_await_outside',
  'errors/syntax_nonlocal',
  'errors/syntax_return_outside',
  'errors/syntax_warning',
  'errors/tab_error',
  'errors/traceback_module',
  'errors/traceback_to_stdout',
  'errors/tracebacklimit',
  'errors/unbound_and_type_errors',
  'errors/unraisable',
  'errors/warnings_shown',
  'exit/atexit_exits',
  'exit/atexit_order',
  'exit/del_after_error',
  'exit/del_at_exit',
  'exit/del_at_exit_order',
  'exit/docstring',
  'exit/flush_fails',
  'exit/globals_at_exit',
  'exit/last_expression_bad_repr',
  'exit/module_state',
  'exit/sys_last',
  'exit/thread_error_at_end',
  'files/is_a_directory',
  'files/locking',
  'files/own_source',
  'files/script_folder_listing',
  'files/shutil_operations',
  'files/walk_tree',
  'introspection/breakpoint_env',
  'introspection/inspect_main_source',
  'introspection/inspect_source',
  'introspection/inspect_stack',
  'introspection/linecache_and_getline',
  'introspection/pdb_scripted',
  'modules/main_reimport',
  'network/server_in_subprocess',
  'processes/posix_spawn_and_pty',
  'processes/pty_spawn',
  'processes/run_itself',
  'processes/run_itself_by_argv0',
  'processes/shell_tools',
  'system/executable_and_prefix',
  'system/open_descriptors',
  'system/path',
  'system/proc_files',
  'system/users',
  'tools/logging_handlers',
]);

/** The entry for a snippet in this place. */
export const differenceOf = (snippet: string, tier: Tier, minor: number): Difference | undefined =>
  DIFFERENCES.find(
    ({ snippets, tiers = [tier], python = [minor] }) =>
      snippets.includes(snippet) && tiers.includes(tier) && python.includes(minor),
  );
