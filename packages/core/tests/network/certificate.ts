import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let made: { key: string; cert: string } | undefined;

/** A certificate that signs itself, for every name and address that the tests use. */
export function makeCertificate(): { key: string; cert: string } {
  if (made) return made;
  const folder = mkdtempSync(join(tmpdir(), 'pungi-test-'));
  const names = 'subjectAltName=DNS:api.example.com,DNS:*.api.example.com,IP:127.0.0.1,IP:::1';
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  try {
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '30',
        '-subj',
        '/CN=pungi-test',
        '-addext',
        names,
        '-keyout',
        key,
        '-out',
        cert,
      ],
      { stdio: 'ignore' },
    );
    made = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
    return made;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
