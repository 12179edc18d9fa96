// The frame of every view: menu, colours, toasts, questions, keys, times.
import { leave, silent } from './live.js';
import './keys.js';
import { newID } from './outbox.js';

const $ = (id) => document.getElementById(id);

// ---- toasts

export function toast(text, tone = '') {
  const el = document.createElement('div');
  el.className = 'toast';
  el.dataset.tone = tone;
  el.textContent = text;
  const close = Object.assign(document.createElement('button'), { type: 'button', textContent: '×', onclick: () => el.remove() });
  close.setAttribute('aria-label', 'Close');
  el.append(close);
  const place = $(tone === 'bad' ? 'alerts' : 'toasts');
  place.append(el);
  while (place.children.length > 3) place.firstChild.remove();
  setTimeout(() => el.remove(), tone === 'bad' ? 15000 : 6000);
}

document.addEventListener('toast', (e) => toast(e.detail.value));

// ---- requests of htmx that did not work

document.addEventListener('htmx:responseError', (e) => {
  const { status, responseText } = e.detail.xhr;
  if (status === 401) {
    leave();
    return;
  }
  let words = '';
  try { words = JSON.parse(responseText).error; } catch { /* no answer of the host's own */ }
  toast(words || `The host answered with status ${status}.`, 'bad');
});
for (const kind of ['htmx:sendError', 'htmx:timeout']) {
  document.addEventListener(kind, (e) => {
    if (e.detail.requestConfig?.triggeringEvent?.type === 'live') return; // it is asked again
    silent(true);
    toast('The host does not answer.', 'bad');
  });
}

// While the host does not answer, a link of the menu would end in the browser's error page.
document.addEventListener('click', (e) => {
  const link = e.target.closest('a[href^="/"]');
  if (!link || !document.body.classList.contains('old') || e.defaultPrevented || e.ctrlKey || e.metaKey || e.button) return;
  e.preventDefault();
  fetch('/healthz', { signal: AbortSignal.timeout(5000) }).then(() => { silent(false); location.assign(link.href); }, () => toast('The host does not answer.', 'bad'));
});

// ---- what a person has typed stays, over a reload and over signing in again, until it is sent

const fields = 'form[hx-post] textarea, form[hx-post] input:not([type], #code), form[hx-post] input[type=text]:not(#code), #composer textarea'; // a code is used once
const keptAs = (el) => `parley:typed:${location.pathname}${el.form.id === 'composer' ? location.search : ''}:${el.form.id || el.form.getAttribute('hx-post')}:${el.name || el.id}`;
export function keep(el, text) {
  try {
    if (text) sessionStorage.setItem(keptAs(el), text); else sessionStorage.removeItem(keptAs(el));
  } catch { /* it is lost on reload */ }
}
document.addEventListener('input', (e) => { if (e.target.matches(fields)) keep(e.target, e.target.value === e.target.defaultValue ? '' : e.target.value); });
document.addEventListener('htmx:afterOnLoad', (e) => {
  silent(false);
  const form = e.detail.requestConfig.elt.closest('form'); // the answer may have taken its place
  if (e.detail.successful && form) for (const el of form.querySelectorAll(fields)) keep(el, '');
});
for (const el of document.querySelectorAll(fields)) {
  try { el.value = sessionStorage.getItem(keptAs(el)) || el.value; } catch { /* nothing kept */ }
}

// A filter that is empty is no part of an address.
document.addEventListener('htmx:configRequest', (e) => {
  if (e.detail.verb !== 'get') return;
  for (const [name, value] of [...e.detail.formData.entries()]) if (value === '') e.detail.formData.delete(name);
});

// ---- a change is asked for once: a double click is one click, also when the first has changed the page below the pointer; and what was
// not answered goes with the same key again, so that the host does it once

const asked = new Map(); // what → {key, at}
const whatOf = ({ verb, path, elt }) => [verb, path, elt.id, new URLSearchParams(elt.matches('form') ? new FormData(elt) : { value: elt.value || '' })].join('\n');

document.addEventListener('htmx:confirm', (e) => {
  if (e.detail.verb === 'get' || e.detail.question) return;
  const before = asked.get(whatOf(e.detail));
  if (e.detail.elt.matches('.htmx-request') || before && Date.now() - before.at < 700) e.preventDefault();
});
document.addEventListener('htmx:configRequest', (e) => {
  if (e.detail.verb === 'get') return;
  const what = whatOf(e.detail), x = asked.get(what) || {};
  if (asked.size > 200) asked.clear();
  asked.set(what, { key: x.key || newID(), at: Date.now() });
  e.detail.headers['Idempotency-Key'] = asked.get(what).key;
});
const answered = (e) => {
  const { verb = 'get', path } = e.detail.requestConfig || {};
  if (verb !== 'get') for (const [what, x] of asked) if (what.startsWith(`${verb}\n${path}\n`)) Object.assign(x, { key: '', at: Date.now() });
};
document.addEventListener('htmx:afterSettle', answered); // a click is on what the page shows: a slow browser takes its time until then
document.addEventListener('htmx:beforeOnLoad', (e) => { // it is answered: the next one is another
  answered(e);
  if (e.detail.xhr.getResponseHeader('HX-Redirect')) document.body.inert = true; // this page is over
  if (e.detail.elt.id === 'sign-out' && e.detail.xhr.status < 300) {
    try { sessionStorage.clear(); } catch { /* nothing is kept */ }
    leave();
  }
});

// ---- questions before what cannot be undone: hx-confirm, with data-title and data-yes for the dialog

document.addEventListener('htmx:confirm', (e) => {
  if (!e.detail.question) return;
  e.preventDefault();
  const of = e.detail.elt.closest('[data-title], [data-yes]')?.dataset || {};
  $('ask-title').textContent = of.title || 'Are you sure?';
  $('ask-yes').textContent = of.yes || 'Continue';
  $('ask-text').textContent = e.detail.question;
  const dialog = $('ask');
  dialog.returnValue = 'no';
  dialog.onclose = () => { if (dialog.returnValue === 'yes') e.detail.issueRequest(true); };
  dialog.showModal();
});

// ---- folds

// What is unfolded stays so when its part of the page is loaded again: <details id="…">.
let unfolded = [];
document.addEventListener('htmx:beforeSwap', (e) => {
  unfolded = [...e.detail.target.querySelectorAll('details[open][id]')].map((el) => el.id);
});
document.addEventListener('htmx:afterSwap', () => {
  for (const id of unfolded) document.getElementById(id)?.setAttribute('open', '');
});

// ---- menu of small screens

const side = $('side'), menu = $('menu');
function open(on) {
  side.classList.toggle('open', on);
  menu.setAttribute('aria-expanded', on);
  if (on) side.querySelector('a').focus(); else if (side.contains(document.activeElement)) menu.focus();
}
menu.addEventListener('click', () => open(!side.classList.contains('open')));
document.addEventListener('click', (e) => { if (side.classList.contains('open') && !side.contains(e.target) && !menu.contains(e.target)) open(false); });
document.addEventListener('keydown', (e) => { if (e.key === 'Escape' && side.classList.contains('open')) open(false); });

// ---- colours

const themes = { '': 'system setting', light: 'light', dark: 'dark' };
function theme(name) {
  const root = document.documentElement;
  if (name) root.dataset.theme = name; else delete root.dataset.theme;
  $('theme-name').textContent = `Colours: ${themes[name]}`;
  $('theme').title = $('theme-name').textContent;
}
theme(document.documentElement.dataset.theme || '');
$('theme').addEventListener('click', () => {
  const names = Object.keys(themes);
  const next = names[(names.indexOf(document.documentElement.dataset.theme || '') + 1) % names.length];
  theme(next);
  try {
    if (next) localStorage.setItem('parley:theme', next); else localStorage.removeItem('parley:theme');
  } catch { /* it holds for this page */ }
});
for (const el of document.querySelectorAll('.tools > *')) el.title = el.textContent.trim();

// ---- times: the rules are those of funcs.go

function ago(at) {
  let s = (Date.now() - at) / 1000;
  const ahead = s < 0;
  s = Math.abs(s);
  if (!ahead && s < 45) return 'just now';
  const words = s < 60 ? `${Math.floor(s)} s` : s < 3600 ? `${Math.floor(s / 60)} min` : s < 86400 ? `${Math.floor(s / 3600)} h` : s < 2592000 ? `${Math.floor(s / 86400)} d` : '';
  if (!words) return at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
  return ahead ? `in ${words}` : `${words} ago`;
}
export function times(root) {
  for (const el of root.querySelectorAll('time[data-ago]')) {
    const at = new Date(el.dateTime), words = ago(at);
    if (el.textContent !== words) el.textContent = words;
    if (!el.dataset.local) {
      el.title = at.toLocaleString();
      el.dataset.local = 'yes';
    }
  }
  for (const el of root.querySelectorAll('time[data-clock]:not([data-local])')) {
    const at = new Date(el.dateTime);
    el.textContent = at.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
    el.title = at.toLocaleString();
    el.dataset.local = 'yes';
  }
}
// tick moves the clocks of what is running.
function tick() {
  for (const el of document.querySelectorAll('time[data-since]')) {
    const s = Math.max(0, Math.floor((Date.now() - new Date(el.dateTime)) / 1000)), m = Math.floor(s / 60);
    el.textContent = m < 1 ? `${s} s` : m < 60 ? `${m} min ${s % 60} s` : `${Math.floor(m / 60)} h ${m % 60} min`;
  }
}
setInterval(() => { if (!document.hidden) tick(); }, 1000);
times(document);
setInterval(() => times(document), 20000);
document.addEventListener('htmx:load', (e) => times(e.detail.elt.parentElement || document));
