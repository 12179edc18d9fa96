package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"parley/gateway/api"
	"parley/gateway/chatclient"
	"parley/sessions"
)

const (
	lookFor    = 20 * time.Second       // of one request that waits for a run
	lookAgain  = 250 * time.Millisecond // where the host answers at once that the run goes on: it stops
	spinAfter  = 2 * time.Second        // a wait that is shorter shows nothing
	spinEvery  = 120 * time.Millisecond // a picture of the spinner
	barColumns = 30
)

// spinner says on a terminal that something is under way, for how long, and how far it is. The func takes it away.
func spinner(what string, done func() int, total int) (stop func()) {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return func() {}
	}
	return spin(os.Stderr, what, done, total, spinAfter)
}

func spin(w io.Writer, what string, done func() int, total int, after time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	began := time.Now()
	ended.Go(func() {
		t := time.NewTimer(after)
		defer t.Stop()
		shown := false
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				if shown {
					_, _ = io.WriteString(w, "\r\x1b[K")
				}
				return
			case <-t.C:
			}
			shown = true
			_, _ = io.WriteString(w, "\r\x1b[K"+progress(i, what, done, total, time.Since(began)))
			t.Reset(spinEvery)
		}
	})
	return func() { cancel(); ended.Wait() }
}

// progress is one picture: a wheel, or a bar where the end is known.
func progress(i int, what string, done func() int, total int, passed time.Duration) string {
	took := passed.Round(time.Second).String()
	if total <= 0 {
		return string([]rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")[i%10]) + " " + chatclient.OneLine(what) + " " + took
	}
	n := min(done(), total)
	return fmt.Sprintf("%-*s %d/%d %s %s", barColumns, bar(float64(n), float64(total), barColumns), n, total, chatclient.OneLine(what), took)
}

// waitRun waits until a run has ended. When the host goes away meanwhile, or the time is over, it gives how the run stood.
func waitRun(e *env, id sessions.RunID, limit time.Duration) (w api.Waited, err error) {
	defer spinner("waiting for the answer", nil, 0)()
	w = api.Waited{Run: id, Status: "timeout"}
	h, err := e.reach()
	if err != nil {
		return w, err
	}
	until := time.Now().Add(limit)
	for {
		left := min(time.Until(until), lookFor)
		now, err := requestOnce[api.Waited](e, "GET /api/runs/{run}/wait", api.WaitQuery{ID: id, Timeout: max(int(left.Milliseconds()), 1)}, "", left+callLimit)
		switch {
		case e.ctx.Err() != nil:
			return w, interrupted("the run continues; to wait for it, run parley runs wait " + string(id))
		case away(err):
			return w, failed(exitTimeout, "timeout", "the host at %s stopped before the run %s ended (%v). The run continues after the next start, so do not send the message again; once the host is back, run parley runs wait %s", h.base, id, err, id)
		case err != nil || now.Final:
			return now, err
		case !time.Now().Before(until):
			return now, failed(exitTimeout, "timeout", "the run has not ended within %s and continues; to wait for it, run parley runs wait %s", limit, id)
		}
		w = now
		again := time.NewTimer(lookAgain)
		select {
		case <-again.C:
		case <-e.ctx.Done():
			again.Stop()
		}
	}
}

// away reports whether a request found no host, or one that stops, or that went away before it answered.
func away(err error) bool {
	if f, answered := errors.AsType[*failure](err); answered {
		return f.exit == exitAway || f.code == "unavailable"
	}
	broken, ok := errors.AsType[*net.OpError](err)
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || ok && !broken.Timeout() && !errors.Is(err, fs.ErrPermission)
}

// waitAndTell prints what a run said; one that failed is a failure.
func waitAndTell(e *env, id sessions.RunID, limit time.Duration, j asJSON) error {
	w, err := waitRun(e, id, limit)
	if err != nil {
		if f, ok := errors.AsType[*failure](err); ok && f.exit == exitTimeout && j.JSON {
			_ = tell(e, j, w, nil)
		}
		return err
	}
	if err := tell(e, j, w, func(p *page, w api.Waited) {
		switch {
		case w.Reply != "":
			p.answer(w.Reply)
		case w.Outcome == api.Silent && !p.quiet:
			sayOfSilence(w)
		}
	}); err != nil {
		return err
	}
	return endOfRun(w)
}

// sayOfSilence says beside the output that a run has no words for it.
func sayOfSilence(w api.Waited) {
	fmt.Fprintln(os.Stderr, endingOf(api.Silent).say("the run "+string(w.Run), w.Silent))
}

// input gives a text argument; "-" reads standard input.
func input(text string) (string, error) {
	if text != "-" {
		return text, nil
	}
	b, err := io.ReadAll(io.LimitReader(os.Stdin, 1<<20))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	if text = strings.TrimSpace(string(b)); text == "" {
		return "", misuse("standard input is empty: pipe a message into the command")
	}
	return text, nil
}

// confirm asks a person; a script says --yes.
func (e *env) confirm(yes bool, format string, a ...any) error {
	if yes {
		return nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return misuse("this cannot be undone: confirm it with --yes")
	}
	fmt.Fprint(os.Stderr, chatclient.OneLine(fmt.Sprintf(format, a...))+" [y/N] ")
	line, _ := bufio.NewReader(os.Stdin).ReadString('\n') // the end of the input is a no
	if a := strings.ToLower(strings.TrimSpace(line)); a == "y" || a == "yes" {
		return nil
	}
	return failed(exitFailed, "declined", "nothing changed")
}
