/** The variables that wrapper.py reads (python/standalone), for its README. A test compares. */
export const SETTINGS: readonly { name: string; standard: string; about: string }[] = [
  { name: 'WRAPPER_MAX_EXECUTION_TIME', standard: '300', about: 'seconds that a call may take' },
  { name: 'WRAPPER_MAX_MEMORY_MB', standard: '512', about: 'memory of a call, in MB' },
  { name: 'WRAPPER_MAX_OUTPUT_LINES', standard: '10000', about: 'printed lines that are kept' },
  { name: 'WRAPPER_MAX_CONCURRENT', standard: '8', about: 'calls at the same time; the others wait' },
  {
    name: 'WRAPPER_PYTHON_EXECUTABLE',
    standard: 'the one that runs the wrapper',
    about: 'the Python that runs the script',
  },
  {
    name: 'WRAPPER_WORKING_DIR',
    standard: 'the folder of `wrapper.py`',
    about: 'the folder that calls run in',
  },
  {
    name: 'WRAPPER_STREAM_BUFFER',
    standard: '1024',
    about: 'characters of one streamed line; longer ones come in parts',
  },
  {
    name: 'WRAPPER_STREAM_FLUSH',
    standard: '0.1',
    about: 'seconds after which an unfinished line is streamed',
  },
  {
    name: 'WRAPPER_ALLOW_NETWORK',
    standard: 'true',
    about: 'false refuses connections: a fence, not a wall',
  },
  {
    name: 'WRAPPER_ALLOW_FILE_WRITE',
    standard: 'true',
    about: 'false refuses writing to files: a fence, not a wall',
  },
  { name: 'WRAPPER_LOG_FILE', standard: 'standard error', about: 'where what goes wrong is logged in full' },
];
