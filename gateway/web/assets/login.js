// Login is the dialog that links an account: it shows each step that the host hands on, until the account is linked.
export class Login {
  constructor($, label, refresh) {
    Object.assign(this, { $, label, refresh, run: null });
    $('close').onclick = () => $('login').close();
    $('again').onclick = () => this.start('');
    $('login').addEventListener('close', () => this.stop());
    $('by-phone').addEventListener('submit', (e) => {
      e.preventDefault();
      this.start($('phone').value);
    });
  }

  open(status) {
    this.status = status;
    this.$('login-title').textContent = `Link ${this.label(status)}`;
    this.$('phone').value = '';
    this.$('login').showModal();
    this.start('');
  }

  stop() {
    this.run?.abort();
    this.run = null;
    clearInterval(this.clock);
    this.$('step').replaceChildren(); // a code does not stay in the page
    this.refresh();
  }

  // start asks for a login; the one before is ended first.
  async start(phone) {
    const { $ } = this;
    const before = this.over;
    this.run?.abort();
    const run = this.run = new AbortController();
    const mine = () => this.run === run;
    this.steps(phone ? 'code' : 'qr');
    this.say(phone ? 'Asking for a code…' : 'Asking for a QR code…');
    $('step').replaceChildren();
    $('again').hidden = true;
    $('by-phone').hidden = false;
    $('close').textContent = 'Cancel';
    let ended;
    this.over = new Promise((done) => { ended = done; });
    try {
      await before;
      await this.follow(run.signal, phone, (s) => mine() && this.show(s));
    } catch (e) {
      if (mine()) this.fail(e instanceof TypeError ? 'The host does not answer.' : e.message);
    } finally {
      ended();
    }
  }

  // follow reads the steps, a line of JSON each. A login that was ended a moment ago may still hold the account.
  async follow(signal, phone, show) {
    const { channel, account } = this.status;
    for (let tries = 0; ; tries++) {
      const res = await fetch('/api/channels/login', { method: 'POST', signal, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ channel, account, phone: phone || undefined }) });
      if (res.ok) return this.read(res.body.getReader(), show);
      const { error } = await res.json().catch(() => ({}));
      if (res.status !== 409 || !error?.includes('already') || tries === 10 || !this.switching) throw new Error(error || `The host answered with status ${res.status}.`);
      await new Promise((done) => { setTimeout(done, 200); });
    }
  }

  async read(reader, show) {
    const text = new TextDecoder();
    let rest = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) throw new Error('The host closed the connection.');
      const lines = (rest + text.decode(value, { stream: true })).split('\n');
      rest = lines.pop();
      for (const line of lines) {
        const s = JSON.parse(line);
        show(s);
        if (s.done || s.error) return;
      }
    }
  }

  show(s) {
    const { $ } = this;
    this.switching = true;
    clearInterval(this.clock);
    if (s.error) return this.fail(s.error);
    if (s.done) {
      $('step').replaceChildren();
      $('how').replaceChildren();
      $('by-phone').hidden = true;
      $('close').textContent = 'Close';
      this.say(s.name ? `Linked as ${s.name}.` : 'Linked.', 'done');
      $('close').focus();
      return this.refresh();
    }
    if (s.qr) $('step').replaceChildren(this.picture(s));
    else {
      const code = Object.assign(document.createElement('output'), { className: 'code', textContent: s.code });
      $('step').replaceChildren(code);
    }
    const left = () => Math.max(0, Math.round((new Date(s.expires) - Date.now()) / 1000));
    this.say(s.qr ? 'Waiting for the phone to scan this code.' : 'Waiting for you to enter the code on the phone.');
    if (s.expires && left() > 0) {
      const note = Object.assign(document.createElement('span'), { ariaHidden: 'true' });
      $('progress').append(note);
      const tick = () => { note.textContent = left() ? ` Valid for ${left()} s.` : ''; };
      tick();
      this.clock = setInterval(tick, 1000);
    }
  }

  fail(text) {
    clearInterval(this.clock);
    this.$('step').replaceChildren();
    this.$('again').hidden = false;
    this.$('close').textContent = 'Close';
    this.say(text, 'failed');
    this.refresh();
  }

  say(text, kind = '') {
    this.$('progress').className = kind;
    this.$('progress').textContent = text;
  }

  steps(by) {
    const app = this.status.channel;
    const lines = [`Open ${app} on the phone that has the account.`, 'Open its settings, then Linked devices, then Link a device.',
      by === 'qr' ? 'Point the phone at this code.' : 'Choose to link with the phone number, and enter this code.'];
    this.$('how').replaceChildren(...lines.map((t) => Object.assign(document.createElement('li'), { textContent: t })));
  }

  picture(s) {
    const make = (tag, attrs) => {
      const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
      for (const [k, v] of Object.entries(attrs)) e.setAttribute(k, v);
      return e;
    };
    const svg = make('svg', { viewBox: `0 0 ${s.image.size} ${s.image.size}`, role: 'img', 'aria-label': `QR code that links ${this.label(this.status)}: scan it with the phone, or get a code by phone number below` });
    svg.append(make('path', { d: s.image.path, fill: '#000' }));
    return svg;
  }
}
