import { describe, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { printed, SANDBOXES, sharedPungis } from './pungi.js';

const pungis = sharedPungis();

/** What ordinary programs do with processes and threads must work in the jail as outside of it. */
describe.each(SANDBOXES)('in the %s tier', (tier) => {
  const pungi = pungis[tier];

  test('subprocess', async () => {
    const code = py`
      import subprocess, sys
      print(subprocess.run(["sh", "-c", "cat; echo $0; exit 3", "arg"], input="in\n", text=True, capture_output=True))
      print(subprocess.check_output([sys.executable, "-c", "print(6 * 7)"], text=True))
      process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
      print(process.communicate("pipe")[0], process.returncode)
      try: subprocess.run(["sleep", "1000"], timeout=0.1)
      except subprocess.TimeoutExpired: print("timeout")
    `;
    const shown = await printed(pungi, { code });
    expect(shown).toContain("returncode=3, stdout='in\\narg\\n', stderr=''");
    expect(shown).toContain('42\n\npipe 0\ntimeout\n');
  });

  test('threads, locks, queues and a thread pool', async () => {
    const code = py`
      import queue, threading
      from concurrent.futures import ThreadPoolExecutor
      lock, total, results = threading.Lock(), 0, queue.Queue()
      def work(n):
          global total
          for _ in range(1000):
              with lock: total += 1
          results.put(n)
      threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
      for thread in threads: thread.start()
      for thread in threads: thread.join()
      with ThreadPoolExecutor(8) as pool: squares = list(pool.map(lambda n: n * n, range(10)))
      print(total, results.qsize(), sum(squares))
    `;
    expect(await printed(pungi, { code })).toBe('8000 8 285\n');
  });

  test('asyncio, with a subprocess and a thread', async () => {
    const code = py`
      import asyncio
      async def main():
          process = await asyncio.create_subprocess_exec("echo", "sub", stdout=asyncio.subprocess.PIPE)
          out, _ = await process.communicate()
          added = await asyncio.gather(*(asyncio.to_thread(lambda n: n + 1, n) for n in range(3)))
          print(out, added)
      asyncio.run(main())
    `;
    expect(await printed(pungi, { code })).toBe("b'sub\\n' [1, 2, 3]\n");
  });

  test('sqlite, tempfile, memory maps and file locks', async () => {
    const code = py`
      import fcntl, mmap, sqlite3, tempfile
      database = sqlite3.connect("data.db")
      database.execute("create table t (n)")
      database.executemany("insert into t values (?)", [(n,) for n in range(10)])
      database.commit()
      print(database.execute("select sum(n) from t").fetchone())
      with tempfile.NamedTemporaryFile() as file:
          file.write(b"x" * 4096); file.flush()
          fcntl.lockf(file, fcntl.LOCK_EX)
          with mmap.mmap(file.fileno(), 4096) as view: print(view[:3])
    `;
    expect(await printed(pungi, { code })).toBe("(45,)\nb'xxx'\n");
  });

  test('a child that multiprocessing spawns instead of forking', async () => {
    const code = py`
      import multiprocessing as mp
      def work(name):
          print("from", name, __name__)
      if __name__ == "__main__":
          child = mp.get_context("spawn").Process(target=work, args=("the child",))
          child.start(); child.join()
          print(child.exitcode)
    `;
    expect(await printed(pungi, { code })).toBe('from the child __mp_main__\n0\n');
  });

  test('a socket pair', async () => {
    const code = py`
      import socket
      one, other = socket.socketpair()
      one.sendall(b"hello")
      print(other.recv(5))
    `;
    expect(await printed(pungi, { code })).toBe("b'hello'\n");
  });

  test('multiprocessing.Pool', async () => {
    const code = py`
      import multiprocessing
      def square(n): return n * n
      if __name__ == "__main__":
          with multiprocessing.Pool(3) as pool: print(pool.map(square, range(6)))
    `;
    expect(await printed(pungi, { code })).toBe('[0, 1, 4, 9, 16, 25]\n');
  });

  test('multiprocessing.Queue, Pipe, Event, Lock and Value', async () => {
    const code = py`
      import multiprocessing as mp
      def work(queue, lock, total, event, pipe):
          event.wait()
          for _ in range(100):
              with lock: total.value += 1
          queue.put(mp.current_process().name != "MainProcess")
          pipe.send("done")
      queue, lock, total, event = mp.Queue(), mp.Lock(), mp.Value("i", 0, lock=False), mp.Event()
      here, there = mp.Pipe()
      children = [mp.Process(target=work, args=(queue, lock, total, event, there)) for _ in range(3)]
      for child in children: child.start()
      event.set()
      print([queue.get() for _ in children], [here.recv() for _ in children])
      for child in children: child.join()
      print(total.value, [child.exitcode for child in children])
    `;
    expect(await printed(pungi, { code })).toBe(
      "[True, True, True] ['done', 'done', 'done']\n300 [0, 0, 0]\n",
    );
  });

  test('ProcessPoolExecutor', async () => {
    const code = py`
      from concurrent.futures import ProcessPoolExecutor
      with ProcessPoolExecutor(2) as pool: print(list(pool.map(abs, [-1, -2])))
    `;
    expect(await printed(pungi, { code })).toBe('[1, 2]\n');
  });

  test('multiprocessing.shared_memory', async () => {
    const code = py`
      from multiprocessing import Process, shared_memory
      def work(name):
          memory = shared_memory.SharedMemory(name)
          memory.buf[0] = 42
          memory.close()
      memory = shared_memory.SharedMemory(create=True, size=4096)
      child = Process(target=work, args=(memory.name,))
      child.start(); child.join()
      print(memory.buf[0])
      memory.close(); memory.unlink()
    `;
    expect(await printed(pungi, { code })).toBe('42\n');
  });
});
