package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"parley/gateway/api"
	"parley/gateway/chatclient"
	"parley/gateway/config"
)

// The exit codes. docs/cli.md has the same table.
const (
	exitFailed      = 1   // what was asked for did not work
	exitUsage       = 2   // the command line or the configuration is wrong
	exitAway        = 3   // the host is not running
	exitMissing     = 4   // what was named is not there
	exitRefused     = 5   // a token, a scope or the send policy is against it
	exitTimeout     = 6   // it took too long; what was begun may go on
	exitStopped     = 7   // a run was stopped
	exitOverrun     = 8   // a run had its time
	exitUndelivered = 9   // a text did not reach its chat
	exitInterrupted = 130 // Ctrl-C, as shells have it
)

// failure is why a command did not do what it was to: the one error of the command line.
type failure struct {
	exit int
	code string // for programs, as the API has it: not_found, …
	text string // for people: what is wrong, and what to do
	rule string // of the send policy that refuses; "" = it is not that
	err  error  // what it wraps, if anything

	isPrinted bool // the command's answer has all of it: only the exit code is left
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.err }

// usageError is a mistake on the command line or in the configuration.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

func misuse(format string, a ...any) error { return usageError{fmt.Errorf(format, a...)} }

// failed makes a failure.
func failed(exit int, code, format string, a ...any) error {
	err := fmt.Errorf(format, a...)
	return &failure{exit: exit, code: code, text: err.Error(), err: errors.Unwrap(err)}
}

// interrupted is what a command says that Ctrl-C has ended.
func interrupted(what string) error {
	return failed(exitInterrupted, "interrupted", "%s", strings.TrimSuffix("interrupted: "+what, ": "))
}

// errNotRunning is what a command says when there is no host to ask.
var errNotRunning = errors.New("parley is not running here: start it with `parley` (or name its configuration with --config)")

// notRunning says what the command line looked at, too.
func notRunning(c *config.Config, last string) error {
	from := cmp.Or(c.Path, "none (the defaults)")
	text := fmt.Sprintf("%v\nparley looked at configuration %s and state folder %s", errNotRunning, from, c.State)
	if last != "" {
		text += "\nthe last host was at " + last
	}
	return &failure{exit: exitAway, code: "not_running", text: text, err: errNotRunning}
}

// exits are the exit codes of answers that are errors. Any other status is exitFailed.
var exits = map[int]int{
	http.StatusBadRequest: exitUsage, http.StatusMethodNotAllowed: exitUsage, http.StatusRequestEntityTooLarge: exitUsage, http.StatusUnsupportedMediaType: exitUsage, http.StatusUnprocessableEntity: exitUsage,
	http.StatusUnauthorized: exitRefused, http.StatusForbidden: exitRefused, http.StatusNotFound: exitMissing,
	http.StatusRequestTimeout: exitTimeout, http.StatusGatewayTimeout: exitTimeout,
}

// refusal is what an answer says that is an error.
func refusal(resp *http.Response) error {
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("read the host's answer: %w", err)
	}
	var said api.Failure
	if json.Unmarshal(b, &said) != nil || said.Error == "" {
		said.Error = "the host answered " + resp.Status
	}
	f := &failure{exit: cmp.Or(exits[resp.StatusCode], exitFailed), code: said.Code, text: said.Error, rule: said.Rule}
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		f.text = "the host refuses the token: " + said.Error + "\nThe command line uses the token of its own configuration and state folder: name the file that the host runs with, using --config FILE."
	case resp.StatusCode == http.StatusTooManyRequests && resp.Header.Get("Retry-After") != "":
		f.text += " (try again in " + resp.Header.Get("Retry-After") + " s)"
	}
	return f
}

// exitOf gives the exit code and the code for programs of what a command returned.
func exitOf(err error) (exit int, code string) {
	f, ours := errors.AsType[*failure](err)
	switch {
	case err == nil:
		return 0, ""
	case ours:
		return f.exit, f.code
	case errors.As(err, &usageError{}):
		return exitUsage, "usage"
	case errors.Is(err, context.Canceled):
		return exitInterrupted, "interrupted"
	case errors.Is(err, context.DeadlineExceeded):
		return exitTimeout, "timeout"
	case errors.Is(err, errNotRunning), errors.Is(err, chatclient.ErrNoHost):
		return exitAway, "not_running"
	case errors.Is(err, chatclient.ErrToken):
		return exitRefused, "unauthorized"
	}
	return exitFailed, "failed"
}

// printError writes an error to standard error: in words, or as the API has it for programs that asked for JSON.
func printError(w io.Writer, err error, asJSON bool) (exit int) {
	exit, code := exitOf(err)
	f, ours := errors.AsType[*failure](err)
	if exit == 0 || ours && f.isPrinted {
		return exit
	}
	if asJSON {
		said := api.Failure{Error: err.Error(), Code: code}
		if ours {
			said.Rule = f.rule
		}
		writeJSON(w, said)
		return exit
	}
	prefix := "parley: "
	if _, invalid := errors.AsType[*config.Invalid](err); invalid {
		prefix = "" // each line names its file
	}
	_, _ = fmt.Fprintln(w, prefix+chatclient.Clean(err.Error()))
	return exit
}
