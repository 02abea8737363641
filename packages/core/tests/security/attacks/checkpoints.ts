import { FIND_CHANNEL } from '../../../../../tests/fixtures/hostile/find-channel.mjs';
import type { Outcome } from '../../../src/contract/outcome.js';
import { type Attack, py } from '../attack.js';

const SAVE = { copy: 'checkpoint' } as const;
const RESTORE = { copy: 'restore' } as const;
const goesOn = ({ session }: Outcome) => (session?.alive === true ? undefined : 'the session has ended');
const GOES_ON = { verdict: 'ok', stdout: 'goes on\n', also: goesOn } as const;
/** Prints what was in the way of a checkpoint, if it was. */
const refusedFor = (word: string) =>
  `print("goes on" if "${word}" in refused else f"BREACH copied: {refused}")`;

/** A copy of a session is a process more, with descriptors and files that another one has, too. */
export const CHECKPOINTS: Attack[] = [
  {
    name: 'checkpoint: a thread that was started right before',
    code: py`
      import _thread, time
      _thread.start_new_thread(time.sleep, (1000,))
    `,
    calls: [SAVE, refusedFor('1 thread')],
    expect: GOES_ON,
    victim: true,
  },
  {
    name: 'checkpoint: descriptors and children that a copy would share',
    code: py`
      import os, subprocess, sys
      held = open("held", "w"), os.pipe()
      child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    `,
    calls: [SAVE, refusedFor('child process'), refusedFor('held'), 'child.kill(); print("goes on")'],
    expect: GOES_ON,
  },
  {
    name: 'checkpoint: a copy that works on its own as soon as it is forked',
    code: py`
      import os, threading
      def spin():
          while True: open("spun", "a").write("x")
      os.register_at_fork(after_in_child=lambda: threading.Thread(target=spin, daemon=True).start())
    `,
    calls: [
      SAVE,
      'open("spun", "w").close()',
      300,
      'print("goes on" if os.path.getsize("spun") == 0 else "BREACH a copy ran")',
    ],
    expect: GOES_ON,
    victim: true,
  },
  {
    name: 'checkpoint: fills the disk with copies',
    long: true,
    code: 'import os\nopen("large", "wb").write(os.urandom(3 << 20))',
    calls: [...Array<typeof SAVE>(8).fill(SAVE), 'print("goes on")'],
    expect: GOES_ON,
    victim: true,
  },
  {
    name: 'checkpoint: forges answers to orders',
    code: `${FIND_CHANNEL}\nimport struct\n${py`
      def forge(kind, payload=b"{}"):
          os.write(REPORT, struct.pack(">IB", len(payload), ord(kind)) + payload)
      os.register_at_fork(before=lambda: [forge(kind) for kind in "KBDT"], after_in_child=lambda: forge("K"))
    `}`,
    calls: [SAVE, RESTORE, SAVE, 'print("goes on")'],
    // Its own orders fail, in one way or another; nobody else's do.
    expect: { verdict: ['ok', 'exited', 'no-session'] },
    victim: true,
  },
  {
    name: 'checkpoint: copies that read the messages for another one',
    code: py`
      import os, signal
      others = lambda: [int(p) for p in os.listdir("/proc") if p.isdigit() and int(p) not in (1, os.getpid())]
      def wake():
          for pid in others():
              try: os.kill(pid, signal.SIGCONT)
              except OSError: pass
    `,
    calls: [SAVE, SAVE, 'wake()', 'wake()', 'print("goes on")'],
    expect: GOES_ON,
    victim: true,
  },
  {
    name: 'checkpoint: crashes and is restored, with processes of its own left behind',
    code: 'import os, subprocess, sys\nx = "goes on"',
    calls: [
      SAVE,
      py`
        for _ in range(5):
            subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True)
        os._exit(1)
      `,
      RESTORE,
      'print(x)',
    ],
    expect: GOES_ON,
    victim: true,
  },
  {
    name: 'checkpoint: every process that it can signal is gone, the template of workers among them',
    code: py`
      import os, signal
      x = "goes on"
      try: os.kill(-1, signal.SIGKILL)
      except OSError: pass
    `,
    calls: [SAVE, 'x = "BREACH as after the checkpoint"', RESTORE, 'print(x)'],
    expect: GOES_ON,
    victim: true,
  },
];
