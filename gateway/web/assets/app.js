import { Log } from './log.js';
import { Outbox, newID } from './outbox.js';
import { leave, listen } from './live.js';
import { keep, toast } from './frame.js';

const $ = (id) => document.getElementById(id);
const chat = $('log').dataset.chat;
const api = (what, more = {}) => `/api/chat/${what}?${new URLSearchParams({ chat, ...more })}`;

const outbox = new Outbox(chat, api, {
  change: (item, confirmed) => {
    log.live(own(item, confirmed));
    if (confirmed) watch();
  },
  closed: () => shut(),
});
const log = new Log($('log'), $('draft'), {
  retry: (id) => outbox.retry(id),
  drop: (id) => { outbox.drop(id); log.remove(id); },
});

const own = (item, confirmed) => ({
  role: 'user', client: item.id, text: item.text, time: item.at || new Date(item.n).toISOString(), host: !!item.at,
  state: confirmed ? '' : item.failed ? 'refused' : 'waiting', reason: item.failed,
});

// ---- scrolling: stay at the end while the reader is there, and nowhere else

const scroller = $('scroll');
let following = true;
const nearEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 80;
const toEnd = () => { scroller.scrollTop = scroller.scrollHeight; };

function change(how) {
  how();
  $('empty').hidden = !started || !log.empty || log.drafting;
  $('stop').hidden = !log.busy;
  if (following) toEnd();
  $('down').hidden = following;
}

scroller.addEventListener('scroll', () => {
  following = nearEnd();
  $('down').hidden = following;
  if (scroller.scrollTop < 300) older();
}, { passive: true });
new ResizeObserver(() => { if (following) toEnd(); }).observe(scroller);
$('down').onclick = () => { following = true; toEnd(); };

// ---- history

async function get(what, more) {
  const res = await fetch(api(what, more), { signal: AbortSignal.timeout(30000) });
  if (res.status === 401) shut();
  if (!res.ok) throw new Error(`${what}: ${res.status}`);
  return res.json();
}

let started = false; // the newest lines are here
let complete = false; // the first line of the chat is here
let loading = false;

async function newest() {
  const { lines } = await get('history', { as: 'html' });
  $('log').setAttribute('aria-live', started ? 'polite' : 'off'); // the past is not read out
  started = true;
  change(() => {
    log.newest(lines);
    for (const item of outbox.items()) log.live(own(item, false));
    if (!log.awaiting) { // also of an answer that was withheld, which makes no event
      log.draft('');
      log.typing(false);
    }
  });
  follow();
  requestAnimationFrame(() => $('log').setAttribute('aria-live', 'polite'));
  if (scroller.scrollHeight <= scroller.clientHeight) older();
}

async function older() {
  if (loading || complete || !started || !log.oldest) return;
  loading = true;
  $('older').textContent = 'Loading earlier messages…';
  try {
    const { lines } = await get('history', { as: 'html', before: log.oldest });
    complete = !lines.length;
    const height = scroller.scrollHeight;
    $('log').setAttribute('aria-live', 'off');
    log.older(lines);
    scroller.scrollTop += scroller.scrollHeight - height;
    $('older').textContent = '';
  } catch {
    $('older').textContent = 'Could not load earlier messages. Scroll up to try again.';
  } finally {
    requestAnimationFrame(() => $('log').setAttribute('aria-live', 'polite'));
    loading = false;
  }
}

// ---- the live stream

let source, retry = 0, timer, seen = Date.now(), typingTimer, closed = false;
const early = []; // what happens while the history is being read

function state(word, cls) {
  if ($('state').textContent !== word) $('state').textContent = word;
  $('dot').className = `dot ${cls}`;
}

function connect() {
  if (closed) return;
  clearTimeout(timer);
  source?.close();
  const es = source = new EventSource(api('events', { as: 'html' }));
  let ready = false;
  const on = (kind, act) => es.addEventListener(kind, (e) => {
    if (es !== source) return;
    seen = Date.now();
    const data = JSON.parse(e.data);
    if (ready) act(data); else early.push(() => act(data));
  });
  es.addEventListener('hello', async () => {
    if (es !== source) return;
    seen = Date.now();
    early.length = 0;
    try {
      change(() => log.draft(''));
      await newest();
    } catch {
      return again();
    }
    if (es !== source) return;
    ready = true;
    retry = 0;
    state('connected', 'on');
    for (const act of early.splice(0)) act();
    outbox.flush();
    watch();
    info();
  });
  on('message', (m) => change(() => {
    log.draft('');
    log.typing(false);
    log.live({ role: 'assistant', key: m.id, text: m.text, html: m.html, time: m.time });
    if (document.hidden) document.title = `(${++unread}) ${title}`;
    watch(1000);
  }));
  on('draft', (d) => {
    change(() => log.draft(d.html));
    watch();
  });
  on('typing', () => {
    change(() => log.typing(true));
    clearTimeout(typingTimer);
    typingTimer = setTimeout(() => change(() => log.typing(false)), 7000);
    watch();
  });
  on('posted', (p) => {
    change(() => log.live({ role: 'user', client: p.id, text: p.text, time: p.time, host: true }));
    watch();
  });
  on('ping', () => {});
  es.addEventListener('reload', again);
  es.onerror = again;

  function again() {
    if (es !== source || closed) return;
    es.close();
    source = null;
    state('reconnecting…', '');
    retry = Math.min(retry + 1, 5);
    timer = setTimeout(connect, retry === 1 ? 300 : 2 ** retry * 500 * (0.75 + Math.random() / 2));
    if (retry > 1) get('info').catch(() => {}); // tells a host that is away from one that does not know us any more
  }
}

// wake looks at the connection after the machine slept or the network changed.
function wake() {
  if (closed || document.hidden) return;
  if (!source || Date.now() - seen > 40000) connect();
  outbox.flush();
}
addEventListener('online', wake);

// A browser has six connections to a host. Of the hidden tabs one keeps its stream, and those whose answer is due; the others read on when they are seen.
let release, unread = 0;
const title = document.title;
document.addEventListener('visibilitychange', () => {
  release?.();
  release = null;
  if (!document.hidden) {
    unread = 0;
    document.title = title;
    return wake();
  }
  navigator.locks?.request('parley:hidden', { ifAvailable: true }, (lock) => lock && document.hidden && new Promise((done) => { release = done; })).catch(() => {});
  setTimeout(rest, 1000);
});

function rest() {
  if (!document.hidden || release || closed) return;
  if (log.busy || log.awaiting) {
    setTimeout(rest, 5000);
    return;
  }
  clearTimeout(timer);
  source?.close();
  source = null;
}

function shut() {
  closed = true;
  source?.close();
  leave(); // what was written and could not be sent stays in the outbox
}

// watch reads the history again while an answer is due: an answer that was withheld or failed makes no live event.
let watching, patience = 0;
function watch(first = 2000) {
  clearTimeout(watching);
  patience = first;
  const look = async () => {
    try { await newest(); } catch { return; /* the stream notices too, and connects again */ }
    patience = Math.min(patience * 2, 30000);
    if (log.awaiting) watching = setTimeout(look, patience);
  };
  if (log.awaiting || first === 1000) watching = setTimeout(look, patience);
}

// ---- header

async function info() {
  let i;
  try { i = await get('info'); } catch { return; }
  $('agent').textContent = i.agent;
  $('model').textContent = i.offline ? 'offline model' : i.model;
  $('settings').textContent = i.settings ? ` · ${i.settings}` : '';
  $('offline').hidden = !i.offline;
  $('channels').replaceChildren(...(i.channels || []).map((c) => {
    const li = document.createElement('li');
    li.dataset.state = c.state;
    const dot = Object.assign(document.createElement('span'), { className: 'dot' });
    li.append(dot, Object.assign(document.createElement('b'), { textContent: c.name }), ' ', Object.assign(document.createElement('span'), { textContent: c.state.replace('_', ' ') }));
    if (c.detail) li.append(Object.assign(document.createElement('p'), { textContent: c.detail }));
    return li;
  }));
}
// The header follows what is changed elsewhere: by a command, on the session's page, by the API.
let asking, follows = false;
function follow() {
  if (follows || !log.oldest || !$('log').dataset.session) return; // a session begins with its first message
  follows = true;
  const tools = new Map(); // call → what it says about itself
  listen($('log').dataset.session, ['session', 'tool', 'run'], (e) => {
    switch (e.kind) {
      case 'tool':
        if (['end', 'error'].includes(e.phase)) tools.delete(e.call); else tools.set(e.call, `${e.tool}${e.text ? `: ${e.text}` : '…'}`);
        change(() => log.doing([...tools.values()].join(' · ')));
        break;
      case 'reload':
        tools.clear();
        change(() => log.doing(''));
        break;
      case 'run':
        tools.clear();
        change(() => log.doing(''));
        break;
      default:
        clearTimeout(asking);
        asking = setTimeout(info, 100);
    }
  });
}
$('host').addEventListener('toggle', () => { if ($('host').open) info(); });
document.addEventListener('click', (e) => { if (!$('host').contains(e.target)) $('host').open = false; });
document.addEventListener('keydown', (e) => { if (e.key === 'Escape') $('host').open = false; });

// ---- writing

const text = $('text');

function grow() {
  $('send').disabled = !text.value.trim();
  if (!CSS.supports('field-sizing', 'content')) {
    text.style.height = 'auto';
    text.style.height = `${text.scrollHeight}px`;
  }
}

function say(words) {
  if (!words.trim()) return;
  following = true;
  const item = outbox.add(words.trim());
  change(() => log.live(own(item, false)));
  outbox.flush();
}

$('composer').addEventListener('submit', (e) => {
  e.preventDefault();
  say(text.value);
  text.value = '';
  keep(text, ''); // the outbox has it
  grow();
  text.focus();
});
$('stop').onclick = async () => {
  try {
    const res = await fetch(`/api/sessions/${encodeURIComponent($('log').dataset.session)}/abort`, {
      method: 'POST', headers: { 'Content-Type': 'application/json', 'Idempotency-Key': newID() }, body: '{}', signal: AbortSignal.timeout(30000) });
    const out = await res.json().catch(() => ({}));
    if (!res.ok) throw new Error(out.error || `The host answered with status ${res.status}.`);
    toast(out.runIds?.length || out.ended ? 'Stopped.' : 'No turn was running.');
    watch(1000);
  } catch (e) {
    toast(e.message, 'bad');
  }
};
text.addEventListener('input', grow);
// Enter is judged by what it would do to the text, which also holds for the keyboards of phones and for input methods.
let shift = false;
text.addEventListener('keydown', (e) => { shift = e.shiftKey; });
text.addEventListener('beforeinput', (e) => {
  if (e.inputType !== 'insertLineBreak' || shift || e.isComposing) return;
  e.preventDefault();
  $('composer').requestSubmit();
});
$('suggestions').addEventListener('click', (e) => { if (e.target.tagName === 'BUTTON') say(e.target.textContent); });

grow();
connect();
