import { randomBytes } from 'node:crypto';
import { IndexTrouble } from './fetch.js';
import type { ProjectFile } from './page.js';

const FILENAME = /^[A-Za-z0-9_][A-Za-z0-9._+!-]{0,254}$/;
/** More than the largest projects together; a build that wants more is filling the server's memory. */
const MOST_OFFERED = 300_000;

interface Offer {
  index: number;
  filename: string;
  url: string;
}

/** The files that pages have offered: only these can be downloaded, each under an opaque number. */
export class OfferedFiles {
  readonly #offers = new Map<string, Offer>();
  readonly #ids = new Map<string, string>();

  /** Returns the file with an address at the proxy, or nothing if it has no valid address. */
  offer(index: number, file: ProjectFile): ProjectFile[] {
    const { filename, url } = file;
    if (!FILENAME.test(filename) || !/^https?:/.test(url)) return [];
    const key = `${index} ${filename} ${url}`;
    let id = this.#ids.get(key);
    if (id === undefined) {
      if (this.#offers.size >= MOST_OFFERED) throw new IndexTrouble(429, 'Too many projects were asked for.');
      id = randomBytes(16).toString('hex');
      this.#ids.set(key, id);
      this.#offers.set(id, { index, filename, url });
    }
    return [{ ...file, url: `/file/${index}/${id}/${encodeURIComponent(filename)}` }];
  }

  /** Returns the address of an offered file, or of its metadata. */
  find(index: number, id: string, name: string): URL | undefined {
    const offer = this.#offers.get(id);
    if (offer?.index !== index) return undefined;
    const encoded = encodeURIComponent(offer.filename);
    const asked = [name, name.replaceAll('+', '%2B')];
    const url = new URL(offer.url);
    url.hash = '';
    if (asked.includes(encoded)) return url;
    if (!asked.includes(`${encoded}.metadata`)) return undefined;
    url.pathname += '.metadata';
    return url;
  }
}
