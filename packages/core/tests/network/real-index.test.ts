import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { printed, sharedPungi, temporaryFolder } from '../engine/pungi.js';
import { makeCertificate } from './certificate.js';
import { serveOutside } from './world.js';

/** The packages come from the network, so it runs only where it is asked for. */
describe.runIf(process.env['PUNGI_TEST_REAL_INDEX'] === '1')('with packages of the real index', async () => {
  const [plain, secure] = [await serveOutside('http'), await serveOutside('https')];
  const base = temporaryFolder();
  chmodSync(base, 0o755);
  const profiles = join(base, 'profiles.yaml');
  writeFileSync(
    profiles,
    JSON.stringify({
      profiles: {
        web: {
          packages: ['requests', 'httpx'],
          network: { allow: [`127.0.0.1:${plain.port}`, `127.0.0.1:${secure.port}`] },
        },
      },
    }),
  );
  const pungi = sharedPungi({ VENVS_BASE_PATH: join(base, 'environments'), PROFILES_FILE: profiles });
  afterAll(() => {
    plain.close();
    secure.close();
  });

  const run = (code: string) =>
    printed(pungi, {
      code,
      profile: 'web',
      context: { http: `http://127.0.0.1:${plain.port}`, https: `https://127.0.0.1:${secure.port}` },
      files: [{ path: 'ca.pem', text: makeCertificate().cert }],
    });

  test('requests', { timeout: 300_000 }, async () => {
    const code = py`
      import requests
      print(requests.get(context["http"] + "/a", timeout=10).text)
      print(requests.get(context["https"] + "/b", timeout=10, verify="ca.pem").text)
      with requests.Session() as session:
          print([session.post(context["http"] + "/c", data="x", timeout=10).status_code for _ in range(3)])
      print(requests.get("http://evil.example/", timeout=10).text[:46])
      try:
          requests.get("https://evil.example/", timeout=10)
      except requests.exceptions.ProxyError as error:
          print("The profile does not allow evil.example:443" in str(error))
      try:
          requests.get(context["https"], timeout=10)
      except requests.exceptions.SSLError as error:
          print("CERTIFICATE_VERIFY_FAILED" in str(error))
    `;
    expect(await run(code)).toBe(
      'hello from /a\nhello from /b\n[200, 200, 200]\nThe profile does not allow evil.example:80; it\nTrue\nTrue\n',
    );
  });

  test('httpx, also many at a time', { timeout: 300_000 }, async () => {
    const code = py`
      import asyncio, httpx, ssl
      print(httpx.get(context["http"] + "/a").text)
      trusted = ssl.create_default_context(cafile="ca.pem")
      print(httpx.get(context["https"] + "/b", verify=trusted).text)
      async def many():
          async with httpx.AsyncClient(verify=trusted, timeout=20) as client:
              answers = await asyncio.gather(*(client.get(context["https"] + f"/{n}") for n in range(120)))
          return {answer.status_code for answer in answers}
      print(asyncio.run(many()))
      try:
          httpx.get("https://evil.example/")
      except httpx.ProxyError as error:
          print("The profile does not allow evil.example:443" in str(error))
    `;
    expect(await run(code)).toBe('hello from /a\nhello from /b\n{200}\nTrue\n');
  });
});
