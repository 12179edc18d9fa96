package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mdp/qrterminal/v3"
	"golang.org/x/term"

	"parley/channels"
	"parley/gateway/api"
)

type loginCmd struct {
	Channel string `arg:"" help:"Kind of the channel, such as whatsapp."`
	Account string `help:"Account. Default: the only account, or the one named default." placeholder:"NAME"`
	Phone   string `help:"Phone number of the account with its country code. The command then shows a code to type on the phone instead of a QR code." placeholder:"NUMBER"`
	asJSON
}

// Help says what --json prints.
func (loginCmd) Help() string {
	return "With --json the command prints each step on one line: the text of a QR code (qr) or a code to type (code), with its expiry time. The last line has \"done\": true."
}

// Run links an account: it shows what a person is to scan or type in until the platform has taken it. Ctrl-C ends the login.
func (c loginCmd) Run(e *env) error {
	t := terminal{out: os.Stdout, is: term.IsTerminal(int(os.Stdout.Fd()))}
	if t.is {
		t.columns, t.lines, _ = term.GetSize(int(os.Stdout.Fd())) // 0 = unknown: nothing is said about the size
	}
	return c.link(e, t)
}

// terminal is where a login is shown.
type terminal struct {
	out            io.Writer
	is             bool // false: a file or a pipe, where nobody scans anything
	columns, lines int
}

func (c loginCmd) link(e *env, t terminal) error {
	h, err := running(e)
	if err != nil {
		return err
	}
	if c.Phone == "" && !t.is && !c.JSON {
		var step api.LoginStep // what the host has against it comes first
		if err := h.call(e.ctx, http.MethodPost, "/api/channels/login", nil, api.LoginCall{Channel: channels.Kind(c.Channel), Account: channels.AccountID(c.Account), Check: true}, &step); err != nil {
			return err
		}
		return usageError{errors.New("the output is not a terminal, so parley cannot show a QR code: get a code to type with --phone +49…, or open /channels on the page of the host")}
	}
	body, err := json.Marshal(api.LoginCall{Channel: channels.Kind(c.Channel), Account: channels.AccountID(c.Account), Phone: c.Phone})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(e.ctx, http.MethodPost, h.base+"/api/channels/login", bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := h.do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode/100 != 2 {
		return refusal(resp)
	}
	shown := 0
	in := bufio.NewScanner(resp.Body)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var s api.LoginStep
		if err := json.Unmarshal(in.Bytes(), &s); err != nil {
			return fmt.Errorf("read the host's answer: %w", err)
		}
		switch {
		case s.Error != "":
			return errors.New(s.Error)
		case c.JSON:
			_, _ = fmt.Fprintln(t.out, escapeJSON(in.Text()))
			if s.Done {
				return nil
			}
			continue
		case s.Done:
			_, _ = fmt.Fprintf(t.out, "\n%s is linked as %s.\n", s.Account, cmp.Or(inQuotes(s.Name), "an account whose name is not known yet"))
			return nil
		}
		c.show(t, s, shown)
		shown++
	}
	if errors.Is(context.Cause(e.ctx), context.Canceled) {
		return interrupted("no account is linked")
	}
	return errors.New("the host ended the login: no account is linked")
}

// show prints a step in the place of the one before.
func (c loginCmd) show(t terminal, s api.LoginStep, n int) {
	if t.is && n > 0 {
		_, _ = fmt.Fprint(t.out, "\x1b[H\x1b[2J\x1b[3J")
	}
	how, what := "point the phone at this code", qrCode(s.QR)
	if s.Code != "" {
		how, what = "choose to link with a phone number, and type this code", "    "+s.Code+"\n"
	}
	_, _ = fmt.Fprintf(t.out, "Open %s on the phone that has the account, then its settings, Linked devices, Link a device; %s:\n\n%s\n", c.Channel, how, what)
	if s.QR != "" {
		first, _, _ := strings.Cut(qrText(s.QR), "\n")
		if columns, lines := utf8.RuneCountInString(first), strings.Count(what, "\n")+5; t.columns > 0 && (columns > t.columns || lines > t.lines) {
			_, _ = fmt.Fprintf(t.out, "This window is too small for the code: make it %d columns wide and %d lines high, or make the letters smaller.\n", columns, lines)
		}
	}
	until := ""
	if !s.Expires.IsZero() {
		until = "The code is valid until " + s.Expires.Local().Format(time.TimeOnly) + "; then a new one appears. "
	}
	_, _ = fmt.Fprintf(t.out, "%sCtrl-C ends the login.\n", until)
	if s.QR != "" {
		_, _ = fmt.Fprintf(t.out, "Without a camera, run parley login %s --phone +49…\n", c.Channel)
	}
}

// qrText draws a QR code with half blocks: what is full is light.
func qrText(text string) string {
	var b strings.Builder
	qrterminal.GenerateHalfBlock(text, qrterminal.L, &b)
	return strings.TrimRight(b.String(), "\n")
}

// qrCode is qrText in fixed colours: a code whose light and dark are swapped, as on a bright terminal, is not read by every phone.
func qrCode(text string) string {
	if text == "" {
		return ""
	}
	return "\x1b[97;40m" + strings.ReplaceAll(qrText(text), "\n", "\x1b[0m\n\x1b[97;40m") + "\x1b[0m\n"
}
