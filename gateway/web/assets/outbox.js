// Messages that the host has not confirmed. They are kept in the browser until it has, so neither a reload nor a host that is
// away loses one; each keeps the id it was born with, so that sending it again can never make it two messages.

const spare = new Map(); // where the browser gives no storage

export class Outbox {
  #prefix; #api; #on; #busy = false; #pause = 0; #timer;

  // on.change(item, confirmed) is called when an item's fate changes; on.closed() when the host does not know us any more.
  constructor(chat, api, on) {
    this.#prefix = `parley:out:${chat}:`;
    this.#api = api;
    this.#on = on;
  }

  items() {
    let keys, get;
    try {
      keys = Object.keys(localStorage);
      get = (k) => localStorage.getItem(k);
    } catch {
      keys = [];
    }
    const stored = keys.filter((k) => k.startsWith(this.#prefix)).map((k) => parse(get(k))).filter(Boolean);
    const own = [...spare.entries()].filter(([k]) => k.startsWith(this.#prefix)).map(([, v]) => v);
    return [...stored, ...own].sort((a, b) => a.n - b.n || (a.id < b.id ? -1 : 1));
  }

  add(text) {
    const last = this.items().at(-1);
    const item = { id: newID(), text, n: Math.max(Date.now(), last ? last.n + 1 : 0), failed: '' };
    this.#store(item);
    return item;
  }

  // retry makes a refused item ready again.
  retry(id) {
    const item = this.items().find((i) => i.id === id);
    if (!item) return;
    item.failed = '';
    this.#store(item);
    this.#on.change(item, false);
    this.flush();
  }

  drop(id) {
    const item = this.items().find((i) => i.id === id);
    if (!item) return;
    spare.delete(this.#prefix + id);
    try { localStorage.removeItem(this.#prefix + id); } catch { /* it was not there */ }
  }

  // flush sends what waits, in order, one at a time, until it is done or the host is away; then it tries again by itself.
  async flush() {
    if (this.#busy) return;
    this.#busy = true;
    clearTimeout(this.#timer);
    try {
      for (let item; (item = this.items().find((i) => !i.failed));) {
        const fate = await this.#post(item);
        if (fate === 'away') {
          this.#pause = Math.min(Math.max(this.#pause * 2, 1000), 15000);
          this.#timer = setTimeout(() => this.flush(), this.#pause * (0.75 + Math.random() / 2));
          return;
        }
        if (fate === 'closed') {
          this.#on.closed();
          return;
        }
        this.#pause = 0;
      }
    } finally {
      this.#busy = false;
    }
  }

  async #post(item) {
    let res;
    try {
      res = await fetch(this.#api('messages'), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ id: item.id, text: item.text }),
        signal: AbortSignal.timeout(30000),
      });
    } catch {
      return 'away';
    }
    if (res.ok) {
      item.at = (await res.json().catch(() => ({}))).time;
      this.drop(item.id);
      this.#on.change(item, true);
      return 'sent';
    }
    if (res.status === 401) return 'closed';
    if (res.status >= 500 || res.status === 429 || res.status === 408) return 'away';
    item.failed = (await res.json().catch(() => ({}))).error || `the host refused the message (status ${res.status})`;
    this.#store(item);
    this.#on.change(item, false);
    return 'refused';
  }

  #store(item) {
    const key = this.#prefix + item.id;
    try {
      localStorage.setItem(key, JSON.stringify(item));
    } catch {
      spare.set(key, item);
    }
  }
}

function parse(text) {
  try { return JSON.parse(text); } catch { return null; }
}

// newID works without crypto.randomUUID, which browsers keep to secure pages.
export function newID() {
  return 'w' + [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, '0')).join('');
}
