import { describe, expect, test } from 'vitest';
import { PungiError } from '../../src/base/errors.js';
import { allows, parseAuthority, parseHostRule } from '../../src/network/hosts.js';

const GOOD: [entry: string, written: string, ports: number[]][] = [
  ['api.example.com', 'api.example.com', [80, 443]],
  ['API.Example.COM', 'api.example.com', [80, 443]],
  [' api.example.com ', 'api.example.com', [80, 443]],
  ['api.example.com.', 'api.example.com', [80, 443]],
  ['api.example.com:8443', 'api.example.com:8443', [8443]],
  ['*.example.com', '*.example.com', [80, 443]],
  ['*.Example.com.:444', '*.example.com:444', [444]],
  ['bücher.example', 'xn--bcher-kva.example', [80, 443]],
  ['xn--bcher-kva.example', 'xn--bcher-kva.example', [80, 443]],
  ['my_service.example.com', 'my_service.example.com', [80, 443]],
  ['intranet', 'intranet', [80, 443]],
  ['93.184.216.34', '93.184.216.34', [80, 443]],
  ['127.0.0.1:8080', '127.0.0.1:8080', [8080]],
  ['169.254.169.254', '169.254.169.254', [80, 443]],
  ['[2001:DB8::1]', '[2001:db8::1]', [80, 443]],
  ['[2001:db8:0:0::1]:8443', '[2001:db8::1]:8443', [8443]],
  ['[::1]:80', '[::1]:80', [80]],
];

const BAD: [entry: string, advice: RegExp][] = [
  ['', /must be a host/],
  ['   ', /must be a host/],
  ['*', /can only stand at the beginning/],
  ['*.', /must be a host/],
  ['*.com', /nearly every host/],
  ['*.*.com', /can only stand at the beginning/],
  ['api.*.com', /can only stand at the beginning/],
  ['*api.example.com', /can only stand at the beginning/],
  ['*.127.0.0.1', /nothing below an address/],
  ['https://api.example.com', /without https/],
  ['http://api.example.com/path', /without https/],
  ['api.example.com/path', /must be a host/],
  ['api.example.com?x', /must be a host/],
  ['api.example.com#x', /must be a host/],
  ['user@api.example.com', /must be a host/],
  ['api.example.com:', /must be a host/],
  ['api.example.com:0', /must be a host/],
  ['api.example.com:65536', /must be a host/],
  ['api.example.com:https', /must be a host/],
  ['api example.com', /must be a host/],
  ['api..example.com', /must be a host/],
  ['-api.example.com', /must be a host/],
  ['api%2eexample.com', /must be a host/],
  [`${'a'.repeat(64)}.com`, /must be a host/],
  [`${'a.'.repeat(130)}com`, /must be a host/],
  ['10.0.0.0/8', /ranges/],
  ['2001:db8::/32', /ranges/],
  ['::1', /in brackets/],
  ['2001:db8::1', /in brackets/],
  ['[::1', /must be a host/],
  ['[fe80::1%eth0]', /must be a host/],
  ['localhost', /127\.0\.0\.1:8080/],
  ['app.localhost:3000', /127\.0\.0\.1:8080/],
  ['2130706433', /write the address as 127\.0\.0\.1/],
  ['0x7f.1', /write the address as 127\.0\.0\.1/],
  ['0177.0.0.1', /write the address as 127\.0\.0\.1/],
  ['127.1:8080', /write the address as 127\.0\.0\.1/],
  ['256.1.1.1', /must be a host/],
  ['1.2.3.4.5', /must be a host/],
];

describe('entries of a list of hosts', () => {
  test.each(GOOD)('%j is read', (entry, written, ports) => {
    expect(parseHostRule(entry)).toMatchObject({ text: written, ports });
  });

  test.each(BAD)('%j is refused with advice', (entry, advice) => {
    let thrown: unknown;
    try {
      parseHostRule(entry);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(PungiError);
    expect(thrown).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringMatching(advice) });
  });
});

const MATCHES: [entry: string, asked: string, isAllowed: boolean][] = [
  ['api.example.com', 'api.example.com:443', true],
  ['api.example.com', 'api.example.com:80', true],
  ['api.example.com', 'API.EXAMPLE.com.:443', true],
  ['api.example.com', 'api.example.com:8443', false],
  ['api.example.com', 'example.com:443', false],
  ['api.example.com', 'x.api.example.com:443', false],
  ['api.example.com', 'api.example.com.evil.com:443', false],
  ['api.example.com', 'evil-api.example.com:443', false],
  ['api.example.com:8443', 'api.example.com:443', false],
  ['*.example.com', 'a.example.com:443', true],
  ['*.example.com', 'a.b.example.com:443', true],
  ['*.example.com', 'example.com:443', false],
  ['*.example.com', 'evilexample.com:443', false],
  ['*.example.com', '.example.com:443', false],
  ['bücher.example', 'xn--bcher-kva.example:443', true],
  ['bücher.example', 'b\u00fccher.example:443', true],
  ['127.0.0.1:8080', '127.0.0.1:8080', true],
  ['127.0.0.1:8080', '2130706433:8080', true],
  ['127.0.0.1:8080', '127.0.0.1:80', false],
  ['127.0.0.1:8080', '127.0.0.2:8080', false],
  ['127.0.0.1:8080', '[::ffff:127.0.0.1]:8080', false],
  ['[::1]:8080', '[0:0::1]:8080', true],
];

describe('an entry allows', () => {
  test.each(MATCHES)('%s: %s is %s', (entry, asked, isAllowed) => {
    const target = parseAuthority(asked);
    const is = target !== undefined && allows(parseHostRule(entry), target.host, target.port!);
    expect(is).toBe(isAllowed);
  });
});
