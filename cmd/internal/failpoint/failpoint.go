// Package failpoint is what a host is given when it is proved: it can be told to kill itself at a commit of its store, and it takes a
// stand-in for WhatsApp's servers. All of it is told by the environment. Only tests and programs built with the tag failpoints have it.
package failpoint

import (
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.mau.fi/whatsmeow"
)

// What a child process is told.
const (
	Trace    = "PARLEY_TEST_TRACE"    // the file in which it notes each call of the store's trace; "" = it has no trace
	Kill     = "PARLEY_TEST_KILL"     // the number of the call at which it kills itself; 0 = none
	KillOp   = "PARLEY_TEST_KILL_OP"  // or the fail-point at which it does (see Points)
	KillNth  = "PARLEY_TEST_KILL_NTH" // how often that has to be reached; "" = once
	WhatsApp = "PARLEY_TEST_WHATSAPP" // where WhatsApp is: an address, and the key that its certificates are signed with
)

// Killer makes the trace of a child process; nil where it is not to have one. It is called by the one goroutine that writes to the
// store, before and after each commit, for each operation in it, and by those that send, before and after they note that they call a platform and that it
// has answered.
func Killer() func(op, phase string) {
	path := os.Getenv(Trace)
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	at, point, nth := number(Kill, 0), os.Getenv(KillOp), number(KillNth, 1)
	var mu sync.Mutex
	calls, hits := 0, 0
	return func(op, phase string) {
		mu.Lock()
		defer mu.Unlock()
		calls++
		if _, err := fmt.Fprintln(f, op, phase); err != nil {
			panic(err)
		}
		here := calls == at
		if slices.Contains(Points(op, phase), point) {
			hits++
			here = here || hits == nth
		}
		if here {
			die()
		}
	}
}

// Points are the fail-points that one call of the trace stands for: "Submit+stop+reset" is one of "Submit", "Submit+stop" and "Submit+reset".
// "PartSent+whatsapp" is one of "PartSent" and, of that platform alone, "PartSent+whatsapp".
func Points(op, phase string) []string {
	name, more, found := strings.Cut(op, "+")
	out := []string{name + " " + phase}
	for found {
		var one string
		one, more, found = strings.Cut(more, "+")
		out = append(out, name+"+"+one+" "+phase)
	}
	return out
}

func number(name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", name, err))
	}
	return n
}

// die ends the process as SIGKILL does: nothing more is written, nobody is told.
func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {} // the signal is on its way
}

// ReachWhatsApp points what this process says to WhatsApp at the stand-in, when it is told of one.
func ReachWhatsApp() {
	addr, key, ok := strings.Cut(os.Getenv(WhatsApp), " ")
	if !ok {
		return
	}
	root, err := hex.DecodeString(key)
	if err != nil || len(root) != len(whatsmeow.WACertPubKey) {
		panic(fmt.Sprintf("read the key in %s: %q: %v", WhatsApp, key, err))
	}
	copy(whatsmeow.WACertPubKey[:], root)
	t := http.DefaultTransport.(*http.Transport)
	plain := t.DialContext
	t.DialTLSContext = func(ctx context.Context, network, to string) (net.Conn, error) {
		if host, _, _ := net.SplitHostPort(to); !strings.Contains(host, "whatsapp.") {
			return nil, fmt.Errorf("connect to %s: only the WhatsApp stand-in is allowed in a test", to)
		}
		return plain(ctx, network, addr)
	}
}

// ToWhatsApp is the environment that makes a child process take the stand-in that client reaches.
func ToWhatsApp(ctx context.Context, client *http.Client) (string, error) {
	t, ok := client.Transport.(*http.Transport)
	if !ok {
		return "", fmt.Errorf("find the stand-in: the client's transport is %T", client.Transport)
	}
	conn, err := t.DialContext(ctx, "tcp", "whatsapp:443")
	if err != nil {
		return "", err
	}
	at := conn.RemoteAddr().String()
	return WhatsApp + "=" + at + " " + hex.EncodeToString(whatsmeow.WACertPubKey[:]), conn.Close()
}
