// Keys: / search, j and k in lists, ? what there is, Esc out of fields.

const $ = (id) => document.getElementById(id);
const typing = (el) => el?.matches('input, textarea, select, [contenteditable]');

$('show-keys').addEventListener('click', () => $('keys').showModal());

function move(step) {
  const rows = [...document.querySelectorAll('[data-row]')].filter((el) => el.offsetParent);
  if (!rows.length) return false;
  const now = rows.findIndex((el) => el.contains(document.activeElement));
  const next = rows[now < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(Math.max(now + step, 0), rows.length - 1)];
  (next.matches('a, button, [tabindex]') ? next : next.querySelector('a, button, summary'))?.focus();
  next.scrollIntoView({ block: 'nearest' });
  return true;
}

document.addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
  if (typing(e.target)) {
    if (e.key === 'Escape' && !document.querySelector('dialog[open]')) e.target.blur();
    return;
  }
  if (document.querySelector('dialog[open]')) return;
  let did = true;
  switch (e.key) {
    case '/': {
      const field = document.querySelector('[data-search]');
      if (field) {
        field.focus();
        field.select();
      } else {
        location.href = '/search';
      }
      break;
    }
    case 'j': did = move(1); break;
    case 'k': did = move(-1); break;
    case '?': $('keys').showModal(); break;
    default: did = false;
  }
  if (did) e.preventDefault();
});
