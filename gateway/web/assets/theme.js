// Before anything is drawn: the colours that were chosen on this browser; without a choice those of the system.
(() => {
  const root = document.documentElement;
  root.classList.add('js');
  try {
    const theme = localStorage.getItem('parley:theme');
    if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
  } catch { /* nothing is kept here */ }
})();
