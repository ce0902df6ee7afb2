// SPDX-License-Identifier: MIT
// The site's texts: their list, and each one's bytes, fetched when first needed and kept.

export interface CorpusInfo {
  id: string;
  title: { en: string; zh: string };
  language: string;
  file: string;
  characters: number;
  distinct: number;
}

const at = (file: string) => new URL(`./corpora/${file}`, document.baseURI);
let list: Promise<CorpusInfo[]> | undefined;
const texts = new Map<string, Promise<Uint8Array>>();

/** An empty list where the site has none; the page then offers own text only. */
export function corpusList(): Promise<CorpusInfo[]> {
  list ??= fetch(at("corpora.json"))
    .then((reply) => (reply.ok ? (reply.json() as Promise<CorpusInfo[]>) : []))
    .catch(() => []);
  return list;
}

export async function corpusText(id: string): Promise<Uint8Array> {
  const info = (await corpusList()).find((entry) => entry.id === id);
  if (!info) throw new Error(`no text "${id}"`);
  let text = texts.get(id);
  if (!text) {
    text = fetch(at(info.file)).then(async (reply) => {
      if (!reply.ok) throw new Error(`${info.file}: ${reply.status} ${reply.statusText}`);
      return new Uint8Array(await reply.arrayBuffer());
    });
    texts.set(id, text);
    // A failed download is tried again the next time.
    text.catch(() => texts.delete(id));
  }
  return text;
}
