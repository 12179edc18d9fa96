// One session: its transcript as it grows, what its agent is writing, and words to it.
import { leave, listen } from './live.js';
import { newID } from './outbox.js';
import { keep, times, toast } from './frame.js';

const $ = (id) => document.getElementById(id);
const log = $('log'), draft = $('draft'), scroller = $('scroll');
const key = log.dataset.session, old = log.dataset.transcript || '';
const api = (what) => `/api/sessions/${encodeURIComponent(key)}/${what}`;
const make = (tag, cls, text) => {
  const el = document.createElement(tag);
  if (cls) el.className = cls;
  if (text !== undefined) el.textContent = text;
  return el;
};

// ---- scrolling: stay at the end while the reader is there

let following = !location.hash;
const toEnd = () => { scroller.scrollTop = scroller.scrollHeight; };
function change(how) {
  how();
  if (following) toEnd();
  if ($('down')) $('down').hidden = following;
}
scroller.addEventListener('scroll', () => {
  following = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 80;
  if ($('down')) $('down').hidden = following;
  if (scroller.scrollTop < 200 && ready) $('older').querySelector('button')?.click();
}, { passive: true });
new ResizeObserver(() => { if (following) toEnd(); }).observe(scroller);
if ($('down')) $('down').onclick = () => { following = true; toEnd(); };
let ready = false;
requestAnimationFrame(() => { change(() => {}); requestAnimationFrame(() => { ready = true; }); });

// What was said before is put in front, and the view stays where it is.
let height = 0;
document.addEventListener('htmx:beforeSwap', (e) => {
  if (e.detail.target.id !== 'older') return;
  log.setAttribute('aria-live', 'off');
  height = scroller.scrollHeight;
});
document.addEventListener('htmx:afterSettle', (e) => {
  if (!height || !log.contains(e.detail.target) && e.detail.target.id !== 'older') return;
  scroller.scrollTop += scroller.scrollHeight - height;
  height = 0;
  dress(log);
  find();
});

// A message that the address names is looked for, page by page.
let pages = 0;
function find() {
  if (!location.hash.startsWith('#m-')) return;
  const el = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (el) {
    el.classList.add('found');
    if (pages >= 0) el.scrollIntoView({ block: 'center' });
    pages = -1;
  } else if (pages >= 0 && pages++ < 40) {
    window.htmx?.trigger($('older').querySelector('button') || document.body, 'click');
  }
}

// dress adds a copy button to each block of code.
function dress(root) {
  for (const pre of root.querySelectorAll('.md pre:not(.dressed)')) {
    pre.classList.add('dressed');
    const code = pre.textContent;
    const b = make('button', '', 'Copy');
    b.type = 'button';
    b.onclick = async () => {
      try {
        await navigator.clipboard.writeText(code); // browsers keep the clipboard to secure pages
        b.textContent = 'Copied';
      } catch {
        b.textContent = 'Cannot copy';
      }
    };
    pre.append(b);
  }
}
dress(log);
addEventListener('load', find);

// ---- the newest lines, read again when something happens

let reading = null, next = null, last = 0;
const pause = 250; // between two readings, however much happens

// refresh reads them; what it gives is there when lines that were read after the call are shown.
function refresh() {
  if (next) return next;
  if (!reading && Date.now() >= last + pause) return begin();
  next = Promise.resolve(reading).then(() => new Promise((done) => setTimeout(done, last + pause - Date.now()))).then(() => {
    next = null;
    return begin();
  });
  return next;
}

function begin() {
  reading = read().catch(() => {}).finally(() => {
    reading = null;
    last = Date.now();
  });
  return reading;
}

async function read() {
  const res = await fetch(location.pathname, { headers: { 'HX-Request': 'true', 'HX-Target': 'log' }, signal: AbortSignal.timeout(30000) });
  if (res.status === 401) leave();
  if (res.status === 404) return gone();
  if (!res.ok) return;
  const next = new DOMParser().parseFromString(await res.text(), 'text/html');
  change(() => merge([...next.querySelectorAll('.said')]));
}

function gone() {
  draft.replaceChildren(make('p', 'warn', 'This session no longer exists.'));
}

function merge(lines) {
  if (!lines.length) {
    for (const el of log.querySelectorAll('.said:not(.waiting)')) el.remove(); // it was reset
    return;
  }
  log.setAttribute('aria-live', 'polite');
  if (log.querySelector('.said:not(.waiting, .notice)') && !lines.some((l) => document.getElementById(l.id))) { // away for too long, or reset
    for (const el of log.querySelectorAll('.said:not(.waiting)')) el.remove();
  }
  $('nothing')?.remove();
  let after = null;
  for (const line of lines) {
    const have = document.getElementById(line.id);
    if (have) {
      if (have.look !== line.outerHTML) {
        const look = line.outerHTML;
        for (const d of line.querySelectorAll('details')) {
          if ([...have.querySelectorAll('details[open]')].some((o) => o.dataset.fold === d.dataset.fold)) d.open = true;
        }
        have.replaceWith(line);
        line.look = look;
        settle(line);
        after = line;
      } else {
        after = have;
      }
      continue;
    }
    line.look = line.outerHTML;
    if (line.classList.contains('person')) mine.get(line.dataset.run)?.remove();
    line.classList.add('fresh');
    if (after) {
      while (after.nextElementSibling?.classList.contains('notice') && after.nextElementSibling.dataset.time <= line.dataset.time) after = after.nextElementSibling;
      after.after(line);
    } else {
      log.append(line);
    }
    settle(line);
    after = line;
  }
  for (const el of log.querySelectorAll('.said.waiting')) log.append(el);
}

function settle(line) {
  times(line);
  dress(line);
}

// ---- what the agent is at

let text = '', drawing = false, doing = '';
async function draw() {
  if (drawing) return;
  drawing = true;
  while (text) {
    const now = text;
    let html = '';
    try {
      const res = await fetch('/parts/markdown', { method: 'POST', headers: { 'HX-Request': 'true' }, body: new URLSearchParams({ text: now }) });
      if (res.ok) html = await res.text();
    } catch { /* the next text tries again */ }
    if (!text) break; // it is in the transcript by now
    change(() => {
      let el = draft.querySelector('.md');
      if (!el) draft.append(el = make('div', 'body md'));
      el.dir = 'auto';
      if (html) el.innerHTML = html; else el.textContent = now; // the host made it safe
    });
    await new Promise((done) => setTimeout(done, 120));
    if (now === text) break;
  }
  drawing = false;
}

function say(what) {
  doing = what;
  let el = draft.querySelector('.doing');
  if (!what) return el?.remove();
  if (!el) {
    el = make('p', 'doing');
    el.append(make('span', 'dot'), make('span'));
    el.firstChild.dataset.tone = 'accent';
    draft.prepend(el);
  }
  el.lastChild.textContent = what;
}

let working = log.hasAttribute('data-working');
function work(on) {
  working = on;
  $('work').hidden = !on;
  if ($('stop')) $('stop').hidden = !on;
  if (!on) {
    text = '';
    change(() => draft.replaceChildren());
  } else if (!doing && !text) {
    change(() => say('thinking…'));
  }
}
if (working) work(true);

const running = new Set();
if (!old) {
  listen(key, ['run', 'text', 'tool', 'message', 'delivery', 'session'], (e) => {
    switch (e.kind) {
      case 'run':
        if (e.status === 'running') running.add(e.runId); else if (e.status !== 'queued') running.delete(e.runId);
        if (e.status === 'running') work(true);
        else if (e.status !== 'queued') refresh().then(() => { if (!running.size) work(false); });
        break;
      case 'text':
        if (!working) work(true);
        if (e.text) {
          text = e.text;
          say('');
          draw();
        }
        break;
      case 'tool':
        change(() => say(e.phase === 'begin' || e.phase === 'progress' || !e.phase ? `${e.tool}${e.text ? `: ${e.text}` : '…'}` : 'thinking…'));
        break;
      case 'message': {
        const was = text; // what comes while the lines are read is not in them
        refresh().then(() => {
          if (text !== was) return;
          text = '';
          draft.querySelector('.md')?.remove();
        });
        break;
      }
      case 'session':
        if (e.phase === 'deleted') gone(); else refresh();
        break;
      case 'reload':
      case 'delivery':
        refresh();
    }
  });
}

// ---- words to it

const mine = new Map(); // run → the line that stands for its message until the transcript has it
const box = $('text');

function line(words, cls, who) {
  const el = make('article', `said ${cls} fresh`);
  el.dataset.time = new Date().toISOString();
  const head = make('header'), body = make('div', 'body', words), note = make('p', 'mark');
  head.append(make('b', 'name', who));
  body.dir = 'auto';
  el.append(head, body, note);
  $('nothing')?.remove();
  following = true;
  change(() => log.append(el));
  return el;
}

async function post(what, body) {
  const id = newID();
  for (let n = 0; ; n++) {
    try {
      const res = await fetch(api(what), { method: 'POST', headers: { 'Content-Type': 'application/json', 'Idempotency-Key': id }, body: JSON.stringify(body), signal: AbortSignal.timeout(30000) });
      if (res.status === 401) leave();
      const out = await res.json().catch(() => ({}));
      if (res.ok) return out;
      if (res.status < 500 || n >= 4) throw Object.assign(new Error(out.error || `The host answered with status ${res.status}.`), { final: true });
    } catch (e) {
      if (e.final || n >= 4) throw e.final ? e : new Error('The host does not answer.');
    }
    await new Promise((done) => setTimeout(done, 2 ** n * 400)); // the same key: it is said once
  }
}

async function send(words) {
  const el = line(words, 'person waiting', 'you');
  const note = el.querySelector('.mark');
  try {
    const out = await post('messages', { message: words, ...($('deliver')?.checked && { deliver: true }) });
    if (!box.value) keep(box, '');
    if (out.answer) {
      el.className = 'said person notice';
      const reply = line(out.answer, 'host notice', 'the host');
      reply.querySelector('.mark').remove();
      if (!out.runId) return;
    }
    mine.set(out.runId, el);
    note.textContent = out.status === 'queued' ? 'queued' : '';
    await refresh();
    if (log.querySelector(`.said.person[data-run="${CSS.escape(out.runId)}"]`)) el.remove();
  } catch (e) {
    note.classList.add('warn');
    note.append(`not sent: ${e.message} `);
    const b = make('button', 'button small', 'Edit and send again');
    b.type = 'button';
    b.onclick = () => {
      el.remove();
      box.value = words;
      grow();
      box.focus();
    };
    note.append(b);
  }
}

function grow() {
  $('send').disabled = !box.value.trim();
  if (!CSS.supports('field-sizing', 'content')) {
    box.style.height = 'auto';
    box.style.height = `${box.scrollHeight}px`;
  }
}

if (box) {
  $('composer').addEventListener('submit', (e) => {
    e.preventDefault();
    const words = box.value.trim();
    if (!words) return;
    box.value = '';
    grow();
    send(words);
    box.focus();
  });
  box.addEventListener('input', grow);
  grow();
  let shift = false;
  box.addEventListener('keydown', (e) => { shift = e.shiftKey; });
  box.addEventListener('beforeinput', (e) => {
    if (e.inputType !== 'insertLineBreak' || shift || e.isComposing) return;
    e.preventDefault();
    $('composer').requestSubmit();
  });
  $('stop').onclick = async () => {
    try {
      const out = await post('abort', {});
      toast(out.runIds?.length || out.ended ? 'Stopped.' : 'No turn was running.');
    } catch (e) {
      toast(e.message, 'bad');
    }
  };
  grow();
}

// What the summary was to look at is asked for: the next one may be about something else.
document.addEventListener('htmx:afterRequest', (e) => { if (e.detail.successful && e.detail.elt.id === 'compact') e.detail.elt.reset(); });

// ---- settings of small screens

function settings(on) {
  $('beside').classList.toggle('open', on);
  $('show-settings').setAttribute('aria-expanded', on);
  (on ? $('hide-settings') : $('show-settings')).focus();
}
$('show-settings').onclick = () => settings(true);
$('hide-settings').onclick = () => settings(false);
document.addEventListener('keydown', (e) => {
  if (e.key === 'Escape' && $('beside').classList.contains('open') && !document.querySelector('dialog[open]')) settings(false);
});
