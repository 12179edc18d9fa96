// The example of a time goes with the way that is chosen.
const hints = { cron: '0 8 * * 1-5', every: '24h', at: '2026-05-04 15:30', in: '90m' };
document.addEventListener('change', (e) => {
  if (e.target.name === 'way') e.target.form.elements.when.placeholder = hints[e.target.value];
});
