//go:build !race

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"parley/channels/telegram/telegramtest"
	"parley/gateway/web"
)

// hour has the commands of the script of a newcomer's first hour.
func hour() map[string]func(*testscript.TestScript, bool, []string) {
	h := &firstHour{}
	return map[string]func(*testscript.TestScript, bool, []string){"page": askPage, "bot": h.bot, "listen": h.listen, "says": h.says, "hears": h.hears}
}

type firstHour struct{ tg *telegramtest.Server }

// askPage opens the link that the last command has printed, writes in the chat of the page and waits for an answer: page TEXT PATTERN.
func askPage(ts *testscript.TestScript, _ bool, args []string) {
	link := strings.TrimSpace(ts.ReadFile("stdout"))
	jar, err := cookiejar.New(nil)
	ts.Check(err)
	client := &http.Client{Jar: jar, Timeout: 10 * time.Second}
	read := func(resp *http.Response, err error) []byte {
		ts.Check(err)
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		ts.Check(err)
		if resp.StatusCode != http.StatusOK {
			ts.Fatalf("%s: %s", resp.Status, body)
		}
		return body
	}
	read(client.Get(link))
	at := link[:strings.Index(link[len("http://"):], "/")+len("http://")]
	text, err := json.Marshal(map[string]string{"id": "1", "text": args[0]})
	ts.Check(err)
	read(client.Post(at+"/api/chat/messages", "application/json", bytes.NewReader(text)))
	want, last := regexp.MustCompile(args[1]), ""
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); <-time.After(50 * time.Millisecond) {
		var list struct{ Lines []web.Line }
		last = string(read(client.Get(at + "/api/chat/history")))
		ts.Check(json.Unmarshal([]byte(last), &list))
		for _, l := range list.Lines {
			if l.Client == "" && want.MatchString(l.Text) {
				return
			}
		}
	}
	ts.Fatalf("no answer like %s in %s", args[1], last)
}

// bot starts the stand-in for Telegram.
func (h *firstHour) bot(ts *testscript.TestScript, _ bool, _ []string) {
	h.tg = telegramtest.New(nil)
	ts.Defer(h.tg.Close)
	h.tg.AddUser(telegramtest.User{ID: owner, Name: "Olga"})
	ts.Setenv("BOT_TOKEN", h.tg.Token())
	ts.Setenv("BOT_URL", h.tg.URL())
}

// listen lets a configuration use any port.
func (h *firstHour) listen(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	b, err := os.ReadFile(filepath.Clean(path))
	ts.Check(err)
	ts.Check(os.WriteFile(path, append([]byte("gateway: {listen: \"127.0.0.1:0\"}\n"), b...), 0o600))
}

// says has a person write to the bot: says ID TEXT.
func (h *firstHour) says(ts *testscript.TestScript, _ bool, args []string) {
	id, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	h.tg.Say(id, id, args[1])
}

// hears waits until the bot has written something to a person, and keeps the part in parentheses in a file: hears ID PATTERN [FILE].
func (h *firstHour) hears(ts *testscript.TestScript, _ bool, args []string) {
	id, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	want := regexp.MustCompile(args[1])
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); <-time.After(50 * time.Millisecond) {
		for _, m := range h.tg.SentTo(id) {
			found := want.FindStringSubmatch(m.Text)
			if found == nil {
				continue
			}
			if len(args) > 2 {
				ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(found[1]), 0o600))
			}
			return
		}
	}
	ts.Fatalf("the bot has not written %s", args[1])
}
