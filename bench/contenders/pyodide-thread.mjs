// One interpreter in one thread: takes code, answers with what it printed.
import { parentPort } from 'node:worker_threads';
import { loadPyodide } from 'pyodide';

const pyodide = await loadPyodide();

parentPort.on('message', (code) => {
  let stdout = '';
  pyodide.setStdout({
    batched: (line) => {
      stdout += `${line}\n`;
    },
  });
  try {
    pyodide.runPython(code);
    parentPort.postMessage({ stdout });
  } catch (error) {
    parentPort.postMessage({ problem: String(error) });
  }
});
