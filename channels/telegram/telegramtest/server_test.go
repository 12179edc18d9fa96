package telegramtest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels/telegram/telegramtest"
)

const (
	anna  int64 = 1
	group int64 = -100
)

// quiet is a test for servers whose violations are wanted.
type quiet struct{ *testing.T }

func (quiet) Errorf(string, ...any) {}

type answer struct {
	Status int
	OK     bool            `json:"ok"`
	Code   int             `json:"error_code"`
	Text   string          `json:"description"`
	Result json.RawMessage `json:"result"`
	Extra  struct {
		RetryAfter int `json:"retry_after"`
	} `json:"parameters"`
	Err error
}

func newServer(t telegramtest.T) *telegramtest.Server {
	srv := telegramtest.New(t)
	srv.AddUser(telegramtest.User{ID: anna, Name: "Anna"})
	srv.AddGroup(group, "Group")
	return srv
}

// call makes one call; params are name, value, name, value, …
func call(t *testing.T, srv *telegramtest.Server, method string, params ...string) (a answer) {
	t.Helper()
	form := url.Values{}
	for i := 0; i < len(params); i += 2 {
		form.Set(params[i], params[i+1])
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://telegram/bot"+srv.Token()+"/"+method, strings.NewReader(form.Encode()))
	if err != nil {
		return answer{Err: err}
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := srv.Client().Do(req)
	if err != nil {
		return answer{Err: err}
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := io.ReadAll(resp.Body)
	a.Err = json.Unmarshal(body, &a)
	a.Status = resp.StatusCode
	return a
}

func TestLongPollAndConfirmation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := newServer(t)
		began := time.Now()
		if a := call(t, srv, "getUpdates", "timeout", "30"); string(a.Result) != "[]" || time.Since(began) != 30*time.Second {
			t.Errorf("an empty poll: %+v after %s", a, time.Since(began))
		}
		time.AfterFunc(5*time.Second, func() { srv.Say(anna, anna, "one"); srv.Say(anna, anna, "two") })
		began = time.Now()
		for range 2 { // again and again until it is confirmed
			if a := call(t, srv, "getUpdates", "timeout", "30"); !strings.Contains(string(a.Result), `"one"`) || time.Since(began) > 5*time.Second {
				t.Errorf("%+v after %s", a, time.Since(began))
			}
			synctest.Wait() // the second text is said as well
		}
		if a := call(t, srv, "getUpdates", "offset", "1000002"); strings.Contains(string(a.Result), `"one"`) || !strings.Contains(string(a.Result), `"two"`) {
			t.Errorf("after confirming the first: %s", a.Result)
		}
		if srv.Confirmed() != 1000001 || srv.Pending() != 1 {
			t.Errorf("confirmed %d, pending %d", srv.Confirmed(), srv.Pending())
		}
		if a := call(t, srv, "getUpdates", "offset", "-1"); !strings.Contains(string(a.Result), `"two"`) {
			t.Errorf("the newest one: %s", a.Result)
		}
	})
}

func TestSecondPollerEndsTheFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := newServer(t)
		first := make(chan answer)
		go func() { first <- call(t, srv, "getUpdates", "timeout", "30") }()
		synctest.Wait()
		go call(t, srv, "getUpdates", "timeout", "1")
		if a := <-first; a.Status != http.StatusConflict || a.Code != http.StatusConflict {
			t.Errorf("%+v", a)
		}
	})
}

// A poll that is under way ends with the fault at once; where there is none, the next one does.
func TestEndPoll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := newServer(t)
		first := make(chan answer)
		go func() { first <- call(t, srv, "getUpdates", "timeout", "30") }()
		synctest.Wait()
		began := time.Now()
		srv.EndPoll(telegramtest.Fault{Code: http.StatusBadGateway})
		if a := <-first; a.Status != http.StatusBadGateway || time.Since(began) > 0 || srv.Polling() {
			t.Errorf("%+v after %s", a, time.Since(began))
		}
		if a := call(t, srv, "getUpdates"); !a.OK {
			t.Errorf("the fault is used up: %+v", a)
		}
		srv.EndPoll(telegramtest.Fault{Cut: true})
		if a := call(t, srv, "getUpdates", "timeout", "30"); a.Err == nil || time.Since(began) > 0 {
			t.Errorf("%+v after %s", a, time.Since(began))
		}
		if a := call(t, srv, "getUpdates"); !a.OK {
			t.Errorf("the fault of the next one is used up: %+v", a)
		}
	})
}

func TestPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := newServer(t)
		srv.Pace(true)
		send := func(chat string) answer { return call(t, srv, "sendMessage", "chat_id", chat, "text", "x") }
		if a, b := send("1"), send("1"); !a.OK || b.Code != 429 || b.Extra.RetryAfter != 1 {
			t.Errorf("two in a second: %+v %+v", a, b)
		}
		accepted, began := 0, time.Now()
		for time.Since(began) < 50*time.Second {
			if send("-100").OK {
				accepted++
			}
			time.Sleep(time.Second) // virtual time
		}
		if accepted != 20 {
			t.Errorf("a group took %d in a minute", accepted)
		}
		for i := range int64(40) {
			srv.AddUser(telegramtest.User{ID: 1000 + i})
		}
		time.Sleep(time.Second) // virtual time
		accepted = 0
		for i := range 40 {
			if send(string(rune('1')) + "0" + string(rune('0'+i/10)) + string(rune('0'+i%10))).OK {
				accepted++
			}
		}
		if accepted != 30 {
			t.Errorf("%d in one second", accepted)
		}
	})
}

func TestTextRules(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	for text, want := range map[string]string{ // what is shown, or after "!" what the error says
		"plain & simple":                                "plain & simple",
		"<b>a</b> &lt;b&gt; &amp;&#33; &nbsp;":          "a <b> &! &nbsp;",
		`<a href="http://x/?a=1&amp;b">l</a>`:           "l",
		"<blockquote expandable>q</blockquote>":         "q",
		`<pre><code class="language-go">x</code></pre>`: "x",
		"1 < 2":                   `!Unsupported start tag "" at byte offset 2`,
		"a <div>b":                `!Unsupported start tag "div" at byte offset 2`,
		"<b>a":                    `!Can't find end tag corresponding to start tag "b"`,
		"a</b>":                   "!Unexpected end tag at byte offset 1",
		"<b><i>a</b>":             `!Unmatched end tag at byte offset 7, expected "</i>", found "</b>"`,
		"a <b":                    "!Unclosed start tag at byte offset 2",
		"<b>a</b":                 "!Unclosed end tag at byte offset 4",
		`<a href="x>l`:            `!Unclosed start tag "a" at byte offset 0`,
		"<b> \n</b>":              "!message text is empty",
		strings.Repeat("😀", 2049): "!message is too long",
		"<i>" + strings.Repeat("x", 4096) + "</i>": strings.Repeat("x", 4096),
	} {
		a := call(t, srv, "sendMessage", "chat_id", "1", "text", text, "parse_mode", "HTML")
		if bad, isBad := strings.CutPrefix(want, "!"); isBad {
			if a.Code != 400 || !strings.HasSuffix(a.Text, bad) {
				t.Errorf("%.40q: %+v", text, a)
			}
			continue
		}
		sent := srv.Sent()
		if !a.OK || sent[len(sent)-1].Text != want {
			t.Errorf("%.40q: %+v", text, a)
		}
	}
}

func TestTokenAndMethods(t *testing.T) {
	t.Parallel()
	srv := newServer(quiet{t})
	for path, want := range map[string]int{"/botnonsense/getMe": 404, "/bot1:wrong/getMe": 401, "/bot" + srv.Token() + "/fly": 404, "/bot" + srv.Token() + "/getMe": 200, "/x": 400} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, resp.StatusCode, want)
		}
	}
}

// The description of the API catches what a stand-in alone would let pass.
func TestSpecCatchesBadCalls(t *testing.T) {
	t.Parallel()
	spec := needSpec(t)
	for name, c := range map[string]struct {
		method string
		params url.Values
	}{
		"no such method":      {"sendMessages", nil},
		"missing":             {"sendMessage", url.Values{"chat_id": {"1"}}},
		"unknown":             {"sendMessage", url.Values{"chat_id": {"1"}, "text": {"x"}, "reply_to_message_id": {"4"}}},
		"twice":               {"sendMessage", url.Values{"chat_id": {"1"}, "text": {"x", "y"}}},
		"no number":           {"getUpdates", url.Values{"offset": {"1.5"}}},
		"no truth":            {"sendMessage", url.Values{"chat_id": {"1"}, "text": {"x"}, "protect_content": {"maybe"}}},
		"no JSON":             {"sendMessage", url.Values{"chat_id": {"1"}, "text": {"x"}, "reply_parameters": {"5"}}},
		"null":                {"getUpdates", url.Values{"allowed_updates": {"null"}}},
		"nested: missing":     {"sendMessage", url.Values{"chat_id": {"1"}, "text": {"x"}, "ephemeral_message_parameters": {`{"callback_query_id":"1"}`}}},
		"nested: wrong type":  {"sendMessage", url.Values{"chat_id": {"1"}, "text": {"x"}, "entities": {`[{"type":"bold","offset":"0","length":1}]`}}},
		"subtype":             {"setMyCommands", url.Values{"commands": {`[]`}, "scope": {`{"type":"moon"}`}}},
		"subtype: wrong form": {"setMyCommands", url.Values{"commands": {`[]`}, "scope": {`{"type":"chat"}`}}},
	} {
		if bad := spec.Call(c.method, c.params); len(bad) != 1 {
			t.Errorf("%s: %q", name, bad)
		}
	}
	good := url.Values{"chat_id": {"-1"}, "text": {"x"}, "reply_parameters": {`{"message_id":1}`}, "protect_content": {"true"}}
	if bad := append(spec.Call("sendMessage", good), spec.Call("setMyCommands", url.Values{"commands": {`[]`}, "scope": {`{"type":"chat","chat_id":"@x"}`}})...); len(bad) != 0 {
		t.Errorf("good ones: %q", bad)
	}
	if bad := spec.JSON([]string{"Update"}, []byte(`{"update_id":1,"message":{"message_id":1,"date":1,"chat":{"id":1,"type":"private"},"hologram":1}}`)); len(bad) != 1 {
		t.Errorf("an update: %q", bad)
	}
}

func TestViolationsFailTheOwner(t *testing.T) {
	t.Parallel()
	needSpec(t)
	srv := newServer(quiet{t})
	call(t, srv, "sendMessage", "chat_id", "1", "text", "x", "colour", "red")
	if v := srv.Violations(); len(v) != 1 || !strings.Contains(v[0], "colour") {
		t.Errorf("%q", v)
	}
}

func needSpec(t *testing.T) *telegramtest.Spec {
	t.Helper()
	spec, err := telegramtest.FindSpec()
	if err != nil {
		if os.Getenv("PARLEY_SHARED") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return spec
}
