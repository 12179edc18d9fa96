import { leave } from './live.js';
import { Login } from './login.js';

const $ = (id) => document.getElementById(id);
const el = (tag, props = {}, ...kids) => {
  const e = Object.assign(document.createElement(tag), props);
  e.append(...kids);
  return e;
};
const label = (s) => `${s.channel} (${s.account})`;
const words = (s) => (s.off ? 'switched off' : s.linking ? 'being linked' : s.state === 'logged_out' ? 'not linked' : s.state === 'connected' && !s.live ? 'connected, silent' : s.state.replaceAll('_', ' '));
const permanent = ['logged_out', 'revoked', 'replaced', 'outdated', 'refused'];

function tone(s) {
  if (s.off) return 'off';
  if (s.live) return 'good';
  return permanent.includes(s.state) || s.state === 'stopped' || s.state === 'banned' ? 'bad' : 'warn';
}

const ago = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
function since(time) {
  const s = (Date.now() - new Date(time)) / 1000;
  if (s < 0) return s > -90 ? 'in a moment' : `in ${Math.round(-s / 60)} minutes`;
  if (s < 60) return 'just now';
  if (s < 3600) return ago.format(-Math.round(s / 60), 'minute');
  return s < 86400 ? ago.format(-Math.round(s / 3600), 'hour') : ago.format(-Math.round(s / 86400), 'day');
}

// ---- talking to the host

async function ask(path, body) {
  const res = await fetch(`/api/channels${path}`, body ? { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) } : { signal: AbortSignal.timeout(15000) });
  const out = await res.json().catch(() => ({}));
  if (res.status === 401) leave();
  if (!res.ok) throw new Error(out.error || `The host answered with status ${res.status}.`);
  return out;
}

function trouble(text) {
  $('trouble').hidden = !text;
  if ($('trouble').textContent !== text) $('trouble').textContent = text;
}

let timer, turn = 0;
async function refresh() {
  clearTimeout(timer);
  const mine = ++turn;
  try {
    const list = await ask('');
    if (mine !== turn) return;
    trouble('');
    show(list);
  } catch (e) {
    if (mine !== turn) return;
    trouble(e instanceof TypeError || e.name === 'TimeoutError' ? 'The host does not answer. The page keeps trying.' : e.message);
  }
  if (!document.hidden) timer = setTimeout(refresh, 2000);
}
document.addEventListener('visibilitychange', () => { if (!document.hidden) refresh(); });
addEventListener('online', refresh);

// ---- the list

const cards = new Map();
const said = new Map(); // the state that was last shown, to say what changes

function show(list) {
  const live = list.filter((s) => s.live).length, all = list.filter((s) => !s.off).length;
  $('sum').textContent = live === all ? `all ${all} connected` : `${live} of ${all} connected`;
  const keys = list.map(label);
  for (const [k, card] of cards) if (!keys.includes(k)) { card.root.remove(); cards.delete(k); }
  list.forEach((s, i) => {
    const k = label(s);
    if (!cards.has(k)) cards.set(k, make(s));
    const card = cards.get(k);
    if ($('accounts').children[i] !== card.root) $('accounts').insertBefore(card.root, $('accounts').children[i] || null);
    fill(card, s);
    const now = words(s);
    if (said.has(k) && said.get(k) !== now) $('news').textContent = `${k}: ${now}`;
    said.set(k, now);
  });
}

function make(s) {
  const c = { title: el('h2', {}, s.channel, el('small', { textContent: s.account === 'default' ? '' : s.account })), state: el('span', { className: 'state' }), badge: el('span', { className: 'badge' }),
    detail: el('p', { className: 'detail' }), todo: el('p', { className: 'todo' }), facts: el('dl'), actions: el('div', { className: 'actions' }), was: '' };
  c.link = el('button', { type: 'button', className: 'button main', textContent: 'Link…', onclick: () => login.open(c.status) });
  c.again = el('button', { type: 'button', className: 'button', textContent: 'Restart', onclick: () => act(c, '/restart') });
  c.logout = el('button', { type: 'button', className: 'button', textContent: 'Log out…', onclick: () => askLogout(c) });
  for (const [b, what] of [[c.link, 'Link'], [c.again, 'Restart'], [c.logout, 'Log out']]) b.setAttribute('aria-label', `${what} ${label(s)}`);
  c.actions.append(c.link, c.again, c.logout);
  c.root = el('li', { className: 'account card' }, el('div', { className: 'top' }, c.title, c.badge), c.detail, c.todo, c.facts, c.actions);
  c.badge.append(c.state);
  c.root.dataset.account = label(s);
  return c;
}

function fill(c, s) {
  c.status = s;
  const facts = [['name', s.name], ['last seen', s.lastSeen && since(s.lastSeen)], ['next attempt', s.next && since(s.next)], ['restarts', s.restarts || '']].filter((f) => f[1]);
  const now = JSON.stringify([s, facts]);
  if (c.was === now) return; // nothing moves under who reads
  c.was = now;
  c.root.dataset.tone = c.badge.dataset.tone = tone(s);
  c.root.dataset.state = s.state;
  c.state.textContent = words(s);
  c.detail.textContent = s.detail || '';
  c.detail.hidden = !s.detail;
  c.facts.replaceChildren(...facts.map(([k, v]) => el('div', {}, el('dt', { textContent: k }), el('dd', { textContent: v }))));
  const over = permanent.includes(s.state);
  c.link.hidden = !s.pairs || s.linking || !['logged_out', 'revoked'].includes(s.state);
  const todo = c.link.hidden ? s.todo : 'link it with the button below';
  c.todo.textContent = todo ? `What to do: ${todo}.` : '';
  c.todo.hidden = !todo;
  c.again.hidden = s.off || s.linking || s.state === 'logged_out' && s.pairs || !(over || s.state === 'disconnected' || s.state === 'banned');
  c.logout.hidden = !s.pairs || s.linking || s.state === 'logged_out';
  c.actions.hidden = c.link.hidden && c.again.hidden && c.logout.hidden;
}

async function act(c, path) {
  const { channel, account } = c.status;
  const buttons = c.actions.querySelectorAll('button');
  buttons.forEach((b) => { b.disabled = true; });
  try {
    await ask(path, { channel, account });
  } catch (e) {
    alertIn(c, e.message);
  } finally {
    buttons.forEach((b) => { b.disabled = false; });
  }
  refresh();
}

// alertIn says in an account's own place what did not work, until the next try.
function alertIn(c, text) {
  c.problem?.remove();
  c.problem = el('p', { className: 'detail warn', textContent: text });
  c.problem.setAttribute('role', 'alert');
  c.root.insertBefore(c.problem, c.actions);
  setTimeout(() => c.problem?.remove(), 15000);
}

let leaving;
function askLogout(c) {
  leaving = c;
  $('logout-title').textContent = `Log out ${label(c.status)}?`;
  $('logout').showModal();
}
$('stay').onclick = () => $('logout').close();
$('leave').onclick = () => {
  $('logout').close();
  act(leaving, '/logout');
};

const login = new Login($, label, refresh);
refresh();
