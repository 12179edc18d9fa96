// What happens at the host, as it happens: elements with data-live name kinds of events; when one comes, they get a "live" event (their
// hx-trigger), not more often than every half second. data-live-session="key" asks for one session's events only. The streams are
// open only while the page is seen: a browser has six connections to a host. Each begins where the page was read, and later where it was
// cut off; when something has happened since, the host says "reload", and all that the stream is for is read again.

const pause = 500;

// leave replaces this page, and those in other tabs of this browser, by the one where a person signs in: the host does not know the browser
// any more.
const tabs = new BroadcastChannel('parley:leave');
tabs.onmessage = () => location.reload();
export function leave() {
  tabs.postMessage('');
  location.reload();
}

// silent says since when the host does not answer: what the page shows is old then, and looks like it.
let since = '';
export function silent(is) {
  if (!!since === is) return;
  since = is ? new Date().toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' }) : '';
  document.body.classList.toggle('old', is);
  const health = document.getElementById('health');
  if (!health) return;
  if (!is) {
    ring(health);
    return;
  }
  health.querySelector('.dot').dataset.tone = 'bad';
  health.lastElementChild.textContent = `no answer from the host since ${since}`;
}
const streams = new Map(); // session or "" → stream

class Stream {
  constructor(session) {
    this.session = session;
    this.since = document.body.dataset.since || '';
    this.heard = new Set(); // functions that get every event
    this.retry = 0;
    this.known = ''; // kinds that the open stream has
  }

  elements() {
    return [...document.querySelectorAll('[data-live]')].filter((el) => (el.dataset.liveSession || '') === this.session);
  }

  kinds() {
    const all = new Set(this.more);
    for (const el of this.elements()) for (const k of el.dataset.live.split(' ')) all.add(k);
    return [...all].filter(Boolean).sort();
  }

  open() {
    const kinds = this.kinds().join(',');
    if (document.hidden || !kinds || this.source && kinds === this.known) return;
    this.close();
    this.known = kinds;
    const es = this.source = new EventSource(`/api/events?${new URLSearchParams({ kinds, ...(this.session && { session: this.session }), ...(this.since && { since: this.since }) })}`);
    es.onopen = () => { this.retry = 0; silent(false); };
    for (const k of [...kinds.split(','), 'reload']) es.addEventListener(k, (e) => this.take(e));
    es.onerror = () => this.again(es);
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }

  again(es) {
    if (es !== this.source) return;
    const refused = es.readyState === EventSource.CLOSED; // by an answer; a connection that broke would be opened again
    this.close();
    this.retry = Math.min(this.retry + 1, 6);
    this.timer = setTimeout(() => this.open(), 2 ** this.retry * 250 * (0.75 + Math.random() / 2));
    if (refused || this.retry === 2) {
      fetch('/parts/health', { headers: { 'HX-Request': 'true' } }).then((r) => { if (r.status === 401) leave(); }, () => silent(true));
    }
  }

  take(e) {
    silent(false);
    if (e.lastEventId) this.since = e.lastEventId;
    let event;
    try { event = JSON.parse(e.data); } catch { return; }
    if (!event.kind) return;
    if (event.kind === 'reload') return this.all();
    for (const f of this.heard) f(event);
    for (const el of this.elements()) if (el.dataset.live.split(' ').includes(event.kind)) ring(el);
  }

  all() {
    for (const f of this.heard) f({ kind: 'reload' });
    for (const el of this.elements()) ring(el);
  }
}

// ring has an element load itself again; when much happens, once per pause, and once at the end. It goes by its id: what is loaded takes
// its place.
const rung = new Map(); // id or element → when it was last loaded; Infinity: it is about to be
function ring(el) {
  const key = el.id || el, last = rung.get(key) || 0;
  if (last === Infinity) return;
  rung.set(key, Infinity);
  setTimeout(load, Math.max(50, last + pause - Date.now()), key);
}

function load(key) {
  const el = typeof key === 'string' ? document.getElementById(key) : key;
  if (!el?.isConnected || !el.dataset.live) return rung.delete(key);
  // What a person is using does not change under their hands, and what is being loaded was perhaps read before this.
  if (document.querySelector('dialog[open]') || el.contains(document.activeElement) && document.activeElement.matches('input, textarea, select') || loading.get(el)) {
    return setTimeout(load, pause / 2, key);
  }
  rung.set(key, Date.now());
  window.htmx?.trigger(el, 'live');
}

// Whatever else is loaded into the place of an element was asked for by a person: it counts for more.
const loading = new Map(); // element → requests for its place that are under way
const count = (el, n) => { if (loading.set(el, (loading.get(el) || 0) + n).get(el) < 1) loading.delete(el); };
const isLive = (e) => e.detail.requestConfig?.triggeringEvent?.type === 'live';
document.addEventListener('htmx:beforeSend', (e) => count(e.detail.target, 1));
document.addEventListener('htmx:afterRequest', (e) => count(e.detail.target, -1));
document.addEventListener('htmx:beforeSwap', (e) => { if (isLive(e) && loading.get(e.detail.target) > 1) e.detail.shouldSwap = false; });
for (const kind of ['htmx:sendError', 'htmx:timeout']) document.addEventListener(kind, (e) => { if (isLive(e)) setTimeout(ring, 4 * pause, e.detail.elt); });

function stream(session) {
  if (!streams.has(session)) streams.set(session, new Stream(session));
  return streams.get(session);
}

// listen gives every event of some kinds to a function; when it has missed some it gets {kind: "reload"}.
export function listen(session, kinds, heard) {
  const s = stream(session);
  s.heard.add(heard);
  s.more = [...(s.more || []), ...kinds];
  s.open();
}

function look() {
  for (const el of document.querySelectorAll('[data-live]')) stream(el.dataset.liveSession || '');
  for (const s of streams.values()) s.open();
}

document.addEventListener('visibilitychange', () => {
  if (!document.hidden) return look();
  for (const s of streams.values()) s.close();
});
addEventListener('pagehide', () => { for (const s of streams.values()) s.close(); });
addEventListener('pageshow', look);
addEventListener('online', look);
document.addEventListener('htmx:load', look);
look();
