import { describe, expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { listenForWebhook } from '../../core/tests/metrics/webhook-listener.js';
import { execute, healthOf, textsOf } from './calls.js';
import { TWO_DOORS } from './doors.js';

describe.each(TWO_DOORS)('$era client over $transport', ({ era, connect }) => {
  test('runs that are too slow make the server degraded, with the reason, and the webhook hears of it', async () => {
    const { address, heard } = await listenForWebhook();
    const webhook = `${address}hooks/T0KEN`;
    const connection = await connect(era, { ALERT_LATENCY_MS: '20', ALERT_WEBHOOK: webhook });
    try {
      const { client } = connection;
      for (let run = 0; run < 4; run += 1) await execute(client, { code: 'import time; time.sleep(0.03)' });
      expect(await healthOf(client)).toMatchObject({ status: 'healthy', alerts: [] });
      await execute(client, { code: 'import time; time.sleep(0.03)' });
      expect(await healthOf(client)).toMatchObject({
        status: 'degraded',
        problem: null,
        alerts: [{ name: 'latency', threshold: 20 }],
      });
      const [text] = textsOf(await client.callTool({ name: 'health_check' }));
      expect(JSON.parse(text!)).toMatchObject({
        status: 'degraded',
        alerts: [
          {
            message: expect.stringMatching(/^95 % of the latest 5 runs took up to \d+ ms, waiting included/),
          },
        ],
      });
      expect(text).not.toContain('T0KEN');
      await until(() => heard.length === 1, 'the webhook has heard of it');
      expect(heard[0]).toMatchObject({
        path: '/hooks/T0KEN',
        body: { server: 'pungi', event: 'raised', alert: { name: 'latency' } },
      });
    } finally {
      await connection.close();
    }
  });
});
