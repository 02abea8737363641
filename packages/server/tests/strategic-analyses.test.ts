import { chmodSync } from 'node:fs';
import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import { loadConfig } from '../../core/src/config/load.js';
import { Pungi } from '../../core/src/pungi.js';
import { type HttpDoor, startHttp } from '../src/http.js';
import type { StrategicResult } from '../src/tools/execute-strategic-code.js';
import { SNIPPETS, type Snippet } from './analyst-snippets.js';
import { NO_ENVIRONMENTS, newClient } from './doors.js';

const DOWNLOAD_MS = 300_000;

/** Needs the network, so it runs only where it is asked for. */
describe.runIf(process.env['PUNGI_TEST_REAL_INDEX'] === '1')(
  'analyses with the real pandas and numpy',
  () => {
    const base = temporaryFolder();
    chmodSync(base, 0o755);
    let pungi: Pungi;
    let door: HttpDoor;
    let client: Client;

    beforeAll(async () => {
      pungi = Pungi.start(loadConfig({ env: { ...NO_ENVIRONMENTS, VENVS_BASE_PATH: base } }));
      door = await startHttp(pungi);
      client = newClient('modern');
      await client.connect(new StreamableHTTPClientTransport(new URL(door.url)));
    });
    afterAll(async () => {
      await client.close();
      await door.close();
      await pungi.close();
    });

    async function analyse({
      code,
      persona,
      capability,
      context,
      fresh = false,
    }: Omit<Snippet, 'what' | 'gives'> & { fresh?: boolean }): Promise<StrategicResult> {
      const args = { code, persona, capability, fresh, replyDetail: 'full', ...(context && { context }) };
      const options = { timeout: DOWNLOAD_MS };
      const answered = await client.callTool({ name: 'execute_strategic_code', arguments: args }, options);
      return answered.structuredContent as StrategicResult;
    }

    test('the first analysis makes the environment, and the next ones find it', {
      timeout: DOWNLOAD_MS,
    }, async () => {
      const result = await analyse({
        code: '[pandas.__name__, numpy.__name__, pd is pandas, np is numpy, persona, role]',
        persona: 'diego',
        capability: 'strategic_data_analysis',
      });
      expect(result, result.error ?? '').toMatchObject({ success: true });
      const seen = ['pandas', 'numpy', true, true, 'diego', 'Engineering Leadership'];
      expect(result.outcome.value?.json).toEqual(seen);
      expect(result.disclosure?.persona).toBe('diego');
    });

    test.each(SNIPPETS)('$what, for $persona', async (snippet) => {
      const result = await analyse(snippet);
      expect(result.error).toBe(null);
      if ('json' in snippet.gives) expect(result.outcome.value?.json).toEqual(snippet.gives.json);
      else expect(result.output).toContain(snippet.gives.printed);
    });

    test('everything that a persona preloads is preloaded', async () => {
      const { environment } = (
        await analyse({ code: '1', persona: 'diego', capability: 'strategic_data_analysis', fresh: true })
      ).outcome;
      const { preloads } = await pungi.health(environment ?? undefined);
      expect(preloads).toMatchObject(
        ['numpy', 'pandas', 'matplotlib.pyplot'].map((module) => ({ module, problem: null })),
      );
    });

    test('ten at once give what each of them gives', async () => {
      const ten = SNIPPETS.filter(({ gives }) => 'json' in gives).slice(0, 10);
      const results = await Promise.all(ten.map((snippet) => analyse({ ...snippet, fresh: true })));
      expect(results.map(({ outcome }) => outcome.value?.json)).toEqual(
        ten.map(({ gives }) => ('json' in gives ? gives.json : undefined)),
      );
    });

    test.each([
      ['a file', 'open("/etc/passwd")'],
      ['os by way of pandas', 'pandas.io.common.os.getcwd()'],
      ['an import by its name', '__import__("subprocess")'],
      ['a package that is there and not allowed', 'import requests'],
    ])('%s is outside of the scope', async (_what, code) => {
      const result = await analyse({ code, persona: 'diego', capability: 'performance_metrics' });
      expect(result.success).toBe(false);
      expect(result.error).toMatch(
        /^Code outside strategic scope\. Only strategic analysis allowed\. Line 1/,
      );
    });
  },
);
