export type Environment = Readonly<Record<string, string | undefined>>;

/** The proxy that tools of the field use for an address, by the variables that name proxies. */
export function proxyFor(target: URL, env: Environment): URL | undefined {
  const find = (name: string) => env[name] || env[name.toUpperCase()] || undefined;
  const address = find(`${target.protocol.slice(0, -1)}_proxy`) ?? find('all_proxy');
  if (!address || isExempt(target, find('no_proxy') ?? '')) return undefined;
  const text = /^\w+:\/\//.test(address) ? address : `http://${address}`;
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** As curl and uv read it: names, each with what is below it, and `*` for every address. */
function isExempt(url: URL, list: string): boolean {
  const host = bareHost(url.hostname);
  const names = list.split(/[\s,]+/).map((name) => name.toLowerCase());
  return names.some((name) => {
    if (name === '*') return true;
    const [, plain = '', port] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(name) ?? [];
    if (plain === '' || (port !== undefined && port !== (url.port || String(usualPort(url.protocol)))))
      return false;
    return host === plain || host.endsWith(`.${plain}`);
  });
}

/** `Authorization` for the name and password in an address, if it has them. */
export function authorization(header: string, { username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const text = `${decode(username)}:${decode(password)}`;
  return { [header]: `Basic ${Buffer.from(text).toString('base64')}` };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const usualPort = (protocol: string) => ({ 'https:': 443, 'http:': 80 })[protocol] ?? 1080;

/** An IPv6 address stands in brackets only in a URL. */
export const bareHost = (hostname: string) => hostname.replace(/^\[|\]$/g, '');
