// The conversation on the page: lines by id, in the order of the history, each updated in place.

export class Log {
  #root; #draft; #on;

  constructor(root, draft, on) {
    this.#root = root;
    this.#draft = draft;
    this.#on = on; // {retry(id), drop(id)}
  }

  get empty() { return !this.#root.querySelector(':scope > .msg'); }
  get busy() { return !!this.#draft.firstChild; }
  get oldest() { return this.#lines().find((el) => el.dataset.id)?.dataset.id; }
  get awaiting() {
    const d = this.#lines().filter((el) => !el.classList.contains('waiting')).at(-1)?.dataset;
    return d?.role === 'user' || d?.state === 'pending' || d?.state === 'sending';
  }

  #lines() { return [...this.#root.querySelectorAll(':scope > .msg')]; }

  // home puts the answer that is being written behind all lines; what is said meanwhile stands below it (live).
  #home() { if (this.#draft.parentElement === this.#root) this.#root.after(this.#draft); }

  // find gives the element that already shows a line: by its id, by the id that a client gave it, or by its delivery.
  #find(line, els) {
    return els.find((el) => line.id && el.dataset.id === line.id)
      || els.find((el) => line.client && el.dataset.client === line.client)
      || els.find((el) => el.dataset.key && line.deliveries?.some((d) => el.dataset.key.startsWith(d)));
  }

  // newest takes the newest lines of the history: what is shown already is updated, what is missing is put in its place. When the
  // page was away for so long that nothing fits, it starts over.
  newest(lines) {
    if (!this.busy) this.#home();
    let els = this.#lines();
    if (lines.length && els.some((el) => el.dataset.id) && !lines.some((l) => this.#find(l, els))) {
      for (const el of els) if (!el.classList.contains('waiting')) el.remove();
      els = this.#lines();
    }
    // Commands are shown while the page is open but are not in the history: new lines go around them by time.
    const loose = (el) => el && (!el.matches('.msg') || !el.dataset.id && !el.classList.contains('waiting'));
    const first = lines.findIndex((l) => this.#find(l, els));
    let next = first < 0 ? this.#root.firstElementChild : this.#find(lines[first], els);
    let prev = null;
    for (const line of lines) {
      const have = this.#find(line, els);
      if (have) {
        this.#fill(have, line);
        if (prev && have.compareDocumentPosition(prev) & Node.DOCUMENT_POSITION_FOLLOWING) prev.after(have); // it was shown before its turn
        prev = have;
        next = have.nextElementSibling;
        continue;
      }
      while (loose(next) && !(new Date(next.dataset.time) > new Date(line.time))) next = next.nextElementSibling;
      prev = this.#root.insertBefore(this.#fill(document.createElement('article'), line), next);
    }
    this.#days();
  }

  older(lines) {
    const els = this.#lines();
    this.#root.prepend(...lines.filter((l) => !this.#find(l, els)).map((l) => this.#fill(document.createElement('article'), l)));
    this.#days();
  }

  // live shows one new line at the end, once.
  live(line) {
    const have = this.#find(line, this.#lines()) || line.key && this.#lines().find((el) => el.dataset.key === line.key || el.dataset.deliveries?.split(' ').some((d) => line.key.startsWith(d)));
    if (have) {
      if (line.client) this.#fill(have, line);
      return;
    }
    const el = this.#fill(document.createElement('article'), line);
    el.classList.add('fresh');
    if (line.role === 'user' && this.busy && this.#draft.parentElement !== this.#root) this.#root.append(this.#draft);
    if (line.role !== 'user' && this.#draft.parentElement === this.#root) {
      this.#draft.before(el);
      this.#home();
    } else {
      this.#root.append(el);
    }
    this.#days();
  }

  remove(client) {
    this.#lines().find((el) => el.dataset.client === client)?.remove();
    this.#days();
  }

  #fill(el, line) {
    const d = el.dataset;
    if (line.id) d.id = line.id;
    if (line.client) d.client = line.client;
    if (line.key) d.key = line.key;
    if (line.deliveries) d.deliveries = line.deliveries.join(' ');
    d.role = line.role;
    d.state = line.state || '';
    if (!d.host || !line.host) d.time = line.time; // a repeated post has a later time than the message
    if (line.host) d.host = 'yes';
    const look = JSON.stringify([line.role, line.text, line.html, line.state, line.rule, line.reason, line.from, line.who]);
    if (d.look === look) return el;
    d.look = look;
    el.className = ['msg', line.role, line.from && 'other', { withheld: 'withheld', failed: 'failed', expired: 'failed', waiting: 'waiting', refused: 'failed' }[line.state]].filter(Boolean).join(' ');
    const parts = [];
    if (line.from) parts.push(make('div', 'name', line.from));
    const body = make('div', line.role === 'user' ? 'body' : 'body md');
    if (line.role === 'user') body.textContent = line.text; else body.innerHTML = line.html || ''; // the host made it safe
    dress(body);
    parts.push(body, this.#meta(line));
    el.replaceChildren(...parts);
    return el;
  }

  #meta(line) {
    const meta = make('div', 'meta');
    const at = make('time', '', new Date(line.time).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' }));
    at.dateTime = line.time;
    at.title = new Date(line.time).toLocaleString();
    const session = this.#root.dataset.session;
    if (session && line.id && (line.role === 'user' || line.role === 'assistant')) { // the address of this message
      const link = make('a', '');
      link.href = `/sessions/${encodeURIComponent(session)}#m-${line.id}`;
      link.append(at);
      meta.append(link);
    } else {
      meta.append(at);
    }
    if (line.role === 'assistant' && line.text && navigator.clipboard) {
      const copy = this.#button('Copy', () => navigator.clipboard.writeText(line.text).then(() => { copy.textContent = 'Copied'; setTimeout(() => { copy.textContent = 'Copy'; }, 2000); }, () => {}));
      copy.className = 'copy';
      meta.append(copy);
    }
    const note = notes[line.state]?.(line);
    if (note) meta.append(make('span', 'note', note));
    if (line.state === 'refused') {
      meta.append(this.#button('Try again', () => this.#on.retry(line.client)), this.#button('Discard', () => this.#on.drop(line.client)));
    }
    return meta;
  }

  #button(text, act) {
    const b = make('button', '', text);
    b.type = 'button';
    b.onclick = act;
    return b;
  }

  #days() {
    for (const el of this.#root.querySelectorAll('.day')) el.remove();
    let last = '';
    const today = new Date().toDateString();
    for (const el of this.#lines()) {
      const at = new Date(el.dataset.time);
      const day = at.toDateString();
      if (day === last) continue;
      if (last || day !== today) {
        const sep = make('div', 'day', day === today ? 'Today' : at.toLocaleDateString([], { weekday: 'long', day: 'numeric', month: 'long' }));
        sep.setAttribute('role', 'separator');
        el.before(sep);
      }
      last = day;
    }
  }

  // draft shows the answer so far; only what changed is touched, so that a selection in what is finished survives.
  draft(html) {
    let body = this.#draft.querySelector('.body');
    if (!html) {
      if (body) this.#draft.replaceChildren();
      return;
    }
    if (!body) {
      const el = make('article', 'msg assistant');
      body = make('div', 'body md');
      el.append(body);
      this.#draft.replaceChildren(el, ...this.#draft.querySelectorAll('.doing'));
    }
    const next = document.createElement('template');
    next.innerHTML = html;
    const fresh = [...next.content.childNodes];
    let same = 0;
    while (same < fresh.length && same < body.childNodes.length && body.childNodes[same].isEqualNode(fresh[same])) same++;
    while (body.childNodes.length > same) body.lastChild.remove();
    body.append(...fresh.slice(same));
  }

  get drafting() { return !!this.#draft.querySelector('.body'); }

  // doing names the tool that is at work; "" = none.
  doing(words) {
    let el = this.#draft.querySelector('.doing');
    if (!words) {
      el?.remove();
      return;
    }
    if (!el) this.#draft.append(el = make('p', 'doing'));
    el.textContent = words;
  }

  typing(on) {
    if (this.drafting) return;
    if (!on) return this.#draft.replaceChildren();
    if (this.#draft.firstChild) return;
    const el = make('div', 'msg');
    const dots = make('div', 'typing');
    dots.append(make('i'), make('i'), make('i'));
    dots.setAttribute('aria-label', 'The agent is writing');
    dots.setAttribute('role', 'img');
    el.append(dots);
    this.#draft.replaceChildren(el);
  }
}

const notes = {
  waiting: () => 'not sent yet',
  refused: (l) => `not sent: ${l.reason}`,
  withheld: (l) => `not delivered: withheld by rule ${l.rule || 'of the send policy'}`,
  failed: (l) => `not delivered${l.reason ? `: ${l.reason}` : ''}`,
  expired: () => 'not delivered in time',
  dropped: () => 'not delivered: dropped',
  stopped: () => 'not fully delivered: stopped',
  held: () => 'held: may have been delivered',
};

function make(tag, cls, text) {
  const el = document.createElement(tag);
  if (cls) el.className = cls;
  if (text !== undefined) el.textContent = text;
  return el;
}

// dress adds a copy button to each block of code.
function dress(body) {
  for (const pre of body.querySelectorAll('pre')) {
    const code = pre.textContent;
    const b = make('button', '', 'Copy');
    b.type = 'button';
    b.onclick = async () => {
      try {
        await navigator.clipboard.writeText(code);
        b.textContent = 'Copied';
      } catch {
        b.textContent = 'Cannot copy';
      }
      setTimeout(() => { b.textContent = 'Copy'; }, 1500);
    };
    pre.append(b);
  }
}
