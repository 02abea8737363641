import type { AuditRecord } from '../contract/audit.js';
import { canonicalJson } from './canonical-json.js';

type Settings = Record<string, unknown>;
type ConfigurationData = Extract<AuditRecord, { kind: 'configuration' }>['data'];

/** What changed since the settings of the latest entry; undefined where nothing did. */
export function configurationChange(
  latest: ConfigurationData | undefined,
  current: Settings,
): ConfigurationData | undefined {
  const settings = withoutSecrets(current) as Settings;
  if (latest === undefined) return asData('the first', null, settings, settings);
  const earlier = latest.settings as Settings;
  const names = [...new Set([...Object.keys(earlier), ...Object.keys(settings)])].sort();
  const changed = names.filter((name) => canonicalJson(earlier[name]) !== canonicalJson(settings[name]));
  if (changed.length === 0) return undefined;
  const pick = (from: Settings) => Object.fromEntries(changed.map((name) => [name, from[name] ?? null]));
  return asData(changed.join(', '), pick(earlier), pick(settings), settings);
}

const asData = (change: string, before: Settings | null, after: Settings, settings: Settings) =>
  ({ change, before, after, settings }) as ConfigurationData;

/** Of an address only where it leads to: names, passwords, paths and queries of web hooks are keys to them. */
function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(ADDRESS, plainAddress);
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value ?? null;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutSecrets(member)]));
}

/** Wherever it stands, such as in "six @ git+https://ann:secret@host/six.git". */
const ADDRESS = /[a-z][a-z\d+.-]*:\/\/[^\s"'`<>]*/gi;

function plainAddress(text: string): string {
  const [, scheme, authority = '', path = ''] = /^([^:]*:\/\/)([^/?#\\]*)(.*)$/.exec(text)!;
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  // A password with a slash in it, which ends in the path, is no host.
  if (!/^([\w.*-]+|\[[\da-f:.]+\])?(:\d+)?$/i.test(host)) return `${scheme}…`;
  return `${scheme}${host}${path === '' || path === '/' ? '' : '/…'}`;
}
