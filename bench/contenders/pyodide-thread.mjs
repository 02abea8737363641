// One interpreter in one thread: receives code, answers with its output.
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
