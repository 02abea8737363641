// Creates the picture of a terminal in docs/images from commands that it runs:
//   node scripts/terminal-picture.mjs docs/images/environments.svg 'pungi env create ml numpy' 'pungi env list'
// Environments are created in a temporary folder; "--with FILE" copies a file there. "--typed FILE" types the lines of a file at
// the prompt of the last command, on a terminal of tmux; a tab in a line is the key. Needs dist/ and a package index.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { at } from './repository.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { with: { type: 'string', multiple: true, default: [] }, typed: { type: 'string' } },
});
const [target, ...commands] = positionals;
const COLUMNS = 108;
const LINE = 19;
const folder = mkdtempSync(join(tmpdir(), 'pungi-picture-'));
try {
  writeFileSync(
    join(folder, 'pungi'),
    `#!/bin/sh\nexec '${process.execPath}' '${at('dist/bundle/main.js')}' "$@"\n`,
  );
  chmodSync(join(folder, 'pungi'), 0o755);
  for (const file of values.with) copyFileSync(file, join(folder, basename(file)));
  const lines = [];
  for (const [index, command] of commands.entries()) {
    const isTyped = values.typed !== undefined && index === commands.length - 1;
    const shown = isTyped ? await typedOutputOf(command, values.typed) : outputOf(command);
    lines.push({ prompt: command }, ...shown, { text: '' });
  }
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, picture(lines.slice(0, -1)));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function surroundings() {
  return {
    ...process.env,
    PATH: `${folder}:${process.env.PATH}`,
    VENVS_BASE_PATH: join(folder, 'environments'),
    TOOLS_DIR: join(folder, 'tools'),
    XDG_STATE_HOME: join(folder, 'state'),
    AUDIT: 'false',
    COLUMNS: String(COLUMNS),
  };
}

function outputOf(command) {
  const { stdout, stderr } = spawnSync('sh', ['-c', command], {
    cwd: folder,
    env: surroundings(),
    encoding: 'utf8',
  });
  return linesOf(stderr + stdout);
}

function linesOf(shown) {
  const text = shown.replaceAll(folder, '~/.local/share/pungi').trimEnd();
  return text === '' ? [] : text.split('\n').map((line) => ({ text: line.slice(0, COLUMNS) }));
}

/** Types the lines, each when there is a prompt for it, and returns what the terminal shows at the end. */
async function typedOutputOf(command, file) {
  const env = { ...surroundings(), TMUX_TMPDIR: folder, TMPDIR: '/tmp' };
  const tmux = (...args) =>
    spawnSync('tmux', ['-L', 'picture', ...args], { cwd: folder, env, encoding: 'utf8' }).stdout;
  const screen = () => tmux('capture-pane', '-p').trimEnd();
  const settled = async () => {
    for (;;) {
      const before = screen();
      await pause(500);
      if (screen() === before && /(^|\n)(>>>|\.\.\.)$/.test(before)) return;
    }
  };
  const size = ['-x', String(COLUMNS), '-y', '200'];
  tmux('new-session', '-d', ...size, command, ';', 'set', 'status', 'off');
  try {
    for (const line of readFileSync(file, 'utf8').trimEnd().split('\n')) {
      await settled();
      for (const [index, part] of line.split('\t').entries()) {
        if (index > 0) tmux('send-keys', 'Tab');
        if (index > 0) await pause(1500);
        tmux('send-keys', '-l', part);
      }
      tmux('send-keys', 'Enter');
    }
    await settled();
    return linesOf(screen().replace(/\n[^\n]*$/, ''));
  } finally {
    tmux('kill-server');
  }
}

function picture(lines) {
  const height = 52 + lines.length * LINE;
  const rows = lines.map(({ prompt, text }, index) => {
    const y = 52 + index * LINE;
    if (prompt === undefined) {
      const typed = /^(?:>>>|\.\.\.) /.test(text) ? ' fill="#ffffff"' : '';
      return `<text x="20" y="${y}"${typed}>${escapeXml(text).replaceAll(' ', '&#160;')}</text>`;
    }
    return `<text x="20" y="${y}"><tspan fill="#7ee787">$</tspan> <tspan fill="#ffffff" font-weight="bold">${escapeXml(prompt)}</tspan></text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="940" height="${height}" viewBox="0 0 940 ${height}" role="img" aria-label="A terminal with Pungi's commands and their output">
<rect width="940" height="${height}" rx="8" fill="#161b22"/>
<circle cx="22" cy="18" r="6" fill="#ff5f56"/><circle cx="42" cy="18" r="6" fill="#ffbd2e"/><circle cx="62" cy="18" r="6" fill="#27c93f"/>
<g fill="#c9d1d9" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13.5" xml:space="preserve">
${rows.join('\n')}
</g>
</svg>
`;
}

function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
