package tools

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
)

// browse calls fetch.
func browse(t *testing.T, w *world, args map[string]any) (fetchResult, *problem) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	r, err := FetchTool(w.deps()).Call(t.Context(), Call{ID: "c", Args: raw, Caller: w.caller})
	if err != nil || len(r.Text) > maxHistory {
		t.Fatalf("%d bytes, %v", len(r.Text), err)
	}
	var ok fetchResult
	var bad problem
	if r.IsError {
		if err := json.Unmarshal([]byte(r.Text), &bad); err != nil {
			t.Fatal(err)
		}
		return ok, &bad
	}
	if err := json.Unmarshal([]byte(r.Text), &ok); err != nil {
		t.Fatal(err)
	}
	return ok, nil
}

// site is a server on this machine, which may be fetched.
func site(t *testing.T, h http.HandlerFunc) (*world, string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	w := newWorld()
	w.config.Fetch.AllowPrivate = true
	return w, s.URL
}

func TestFetchPublic(t *testing.T) {
	t.Parallel()
	for a, want := range map[string]bool{
		"8.8.8.8": true, "93.184.216.34": true, "100.63.255.255": true, "172.15.0.1": true, "172.32.0.1": true, "192.0.1.1": true, "2606:4700::1111": true, "2a00:1450::1": true,
		"::ffff:8.8.8.8": true, "64:ff9b::808:808": true, "2002:808:808::1": true,
		"0.0.0.0": false, "0.1.2.3": false, "10.1.2.3": false, "100.64.0.1": false, "100.100.100.200": false, "127.0.0.1": false, "127.9.9.9": false, "169.254.169.254": false, "172.16.0.1": false,
		"172.31.255.255": false, "192.0.0.192": false, "192.0.2.1": false, "192.88.99.1": false, "192.168.1.1": false, "198.18.0.1": false, "198.19.0.1": false, "198.51.100.1": false,
		"203.0.113.1": false, "224.0.0.1": false, "239.1.1.1": false, "240.0.0.1": false, "255.255.255.255": false, "168.63.129.16": false,
		"::": false, "::1": false, "::7f00:1": false, "::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "64:ff9b::7f00:1": false, "64:ff9b::a9fe:a9fe": false, "64:ff9b:1::a00:1": false,
		"2002:7f00:1::": false, "2002:a9fe:a9fe::1": false, "2001::1": false, "2001:0:808:808::": false, "2001:db8::1": false, "3fff::1": false, "100::1": false,
		"fc00::1": false, "fd00:ec2::254": false, "fe80::1": false, "fe80::1%eth0": false, "fec0::1": false, "ff02::1": false, "5f00::1": false, "4000::1": false,
	} {
		if got := public(netip.MustParseAddr(a)); got != want {
			t.Errorf("%s: %v", a, got)
		}
	}
	if public(netip.Addr{}) {
		t.Error("no address at all is public")
	}
}

// An address that this machine itself has is closed, public or not, however it is written; so is everything when they are not known.
func TestFetchRefusesThisMachine(t *testing.T) {
	t.Parallel()
	own := func() ([]net.Addr, error) {
		_, six, err := net.ParseCIDR("2a01:4f8::7/128")
		return []net.Addr{&net.IPNet{IP: net.ParseIP("8.8.8.8"), Mask: net.CIDRMask(24, 32)}, six}, err
	}
	for a, want := range map[string]bool{"8.8.8.8": false, "::ffff:8.8.8.8": false, "64:ff9b::808:808": false, "2002:808:808::1": false, "2a01:4f8::7": false, "10.0.0.1": false,
		"8.8.8.9": true, "2a01:4f8::8": true} {
		err := reachable(netip.MustParseAddr(a), own)
		if _, closed := errors.AsType[*addressError](err); (err == nil) != want || closed == want {
			t.Errorf("%s: %v", a, err)
		}
	}
	if err := reachable(netip.MustParseAddr("8.8.8.9"), func() ([]net.Addr, error) { return nil, errors.New("no such call") }); err == nil {
		t.Error("reached without knowing the addresses of this machine")
	}
}

// The check is on the address that is dialled: a name, a spelling or a redirect that leads to this machine is refused, and no request
// arrives.
func TestFetchRefusesPrivate(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	_, base := site(t, func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path })
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"} {
		_, bad := browse(t, newWorld(), map[string]any{"url": "http://" + net.JoinHostPort(strings.Trim(host, "[]"), u.Port()) + "/"})
		if bad == nil || bad.Status != "forbidden" || !strings.Contains(bad.Error, "allowPrivate") {
			t.Errorf("%s: %+v", host, bad)
		}
	}
	if len(asked) != 0 {
		t.Errorf("a request arrived for %s", <-asked)
	}
}

func TestFetchAddresses(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.config.Fetch = Fetch{AllowHosts: []string{"example.org", "*.Example.org", "xn--bcher-kva.example"}, DenyHosts: []string{"bad.*"}}
	for raw, status := range map[string]string{
		"ftp://example.org/": "error", "file:///etc/passwd": "error", "example.org": "error", "http://": "error", "": "error", "javascript:1": "error",
		"http://user:pass@example.org/": "error", "http://" + strings.Repeat("a", 5000): "error",
		"http://other.org/": "forbidden", "http://example.org.evil.org/": "forbidden", "http://bad.example.org/": "forbidden", "http://BAD.example.org./": "forbidden", "http://evil-example.org/": "forbidden",
		"http://example.org/": "", "https://a.b.EXAMPLE.org./x#y": "", "http://bücher.example/": "",
	} {
		u, bad := fetchAddress(w.config.Fetch, raw)
		if status == "" && (bad != nil || u.Fragment != "") || status != "" && (bad == nil || bad.Status != status) {
			t.Errorf("%.60s: %v, %+v", raw, u, bad)
		}
	}
}

func TestFetchRedirects(t *testing.T) {
	t.Parallel()
	var w *world
	var base string
	w, base = site(t, func(rw http.ResponseWriter, r *http.Request) {
		var n int
		switch _, _ = fmt.Sscanf(r.URL.Path, "/hop/%d", &n); {
		case r.Header.Get("Referer") != "" || r.Header.Get("Cookie") != "":
			http.Error(rw, "tells where it comes from", http.StatusTeapot)
		case r.URL.Path == "/file":
			http.Redirect(rw, r, "file:///etc/passwd", http.StatusFound)
		case r.URL.Path == "/login":
			http.Redirect(rw, r, "http://a:b@"+r.Host+"/", http.StatusFound)
		case r.URL.Path == "/denied":
			http.Redirect(rw, r, "http://denied.test/", http.StatusFound)
		case n > 0:
			http.SetCookie(rw, &http.Cookie{Name: "a", Value: "b"})
			http.Redirect(rw, r, fmt.Sprintf("/hop/%d", n-1), http.StatusFound)
		default:
			_, _ = fmt.Fprint(rw, "there")
		}
	})
	w.config.Fetch.DenyHosts = []string{"denied.test"}
	if r, bad := browse(t, w, map[string]any{"url": base + "/hop/5"}); bad != nil || r.Text != "there" || r.URL != base+"/hop/0" {
		t.Errorf("%+v, %+v", r, bad)
	}
	for path, why := range map[string]string{"/hop/6": "more than 5 redirects", "/file": "http or https", "/login": "password", "/denied": "denyHosts"} {
		if _, bad := browse(t, w, map[string]any{"url": base + path}); bad == nil || !strings.Contains(bad.Error, why) {
			t.Errorf("%s: %+v", path, bad)
		}
	}
}

func zipped(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestFetchReads(t *testing.T) {
	t.Parallel()
	latin, err := charmap.ISO8859_1.NewEncoder().String("<p>Gr\u00fc\u00dfe</p>")
	if err != nil {
		t.Fatal(err)
	}
	type answer struct {
		kind, packed string
		body         []byte
		code         int
		want         fetchResult
		note         string
	}
	answers := map[string]answer{
		"/html":   {"text/html; charset=utf-8", "", []byte("<title>A\n b</title><body><p>Hello <b>you</b>"), 200, fetchResult{Title: "A b", Text: "Hello you"}, ""},
		"/latin":  {"text/html; charset=iso-8859-1", "", []byte(latin), 200, fetchResult{Text: "Grüße"}, ""},
		"/meta":   {"text/html", "", []byte("<meta charset=iso-8859-1>" + latin), 200, fetchResult{Text: "Grüße"}, ""},
		"/utf16":  {"text/plain; charset=utf-16le", "", []byte("a\x00\xfc\x00"), 200, fetchResult{Text: "aü"}, ""},
		"/json":   {"application/json", "", []byte(`{"a":"<b>"}`), 200, fetchResult{Text: `{"a":"<b>"}`}, ""},
		"/plain":  {"", "", []byte("just text"), 200, fetchResult{Text: "just text"}, ""},
		"/gone":   {"text/plain", "", []byte("not here"), 404, fetchResult{Text: "not here"}, ""},
		"/gzip":   {"text/plain", "gzip", zipped(t, []byte("packed")), 200, fetchResult{Text: "packed"}, ""},
		"/binary": {"image/png", "", []byte("\x89PNG\x00\x01"), 200, fetchResult{}, "not text"},
		"/lies":   {"text/plain", "", []byte("MZ\x00\x01\x02"), 200, fetchResult{}, "not text"},
		"/brotli": {"text/plain", "br", []byte("xxx"), 200, fetchResult{}, "unknown encoding"},
		"/empty":  {"text/plain", "", nil, 200, fetchResult{}, "empty"},
	}
	w, base := site(t, func(rw http.ResponseWriter, r *http.Request) {
		a := answers[r.URL.Path]
		if a.packed != "" {
			rw.Header().Set("Content-Encoding", a.packed)
		}
		if rw.Header()["Content-Type"] = nil; a.kind != "" {
			rw.Header().Set("Content-Type", a.kind)
		}
		rw.WriteHeader(a.code)
		_, _ = rw.Write(a.body)
	})
	for path, a := range answers {
		r, bad := browse(t, w, map[string]any{"url": base + path})
		if bad != nil || r.Text != a.want.Text || r.Title != a.want.Title || r.Code != a.code || !strings.Contains(r.Note, a.note) || (r.Note == "") != (a.note == "") || r.Cut {
			t.Errorf("%s: %+v, %+v", path, r, bad)
		}
	}
}

// What is long comes in pieces, what is larger than maxBytes is cut, and neither a bomb nor a server that never ends does harm.
func TestFetchBounds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789ä\x01", 12000)
	bomb := zipped(t, bytes.Repeat([]byte("a"), 50<<20))
	begun, end := make(chan struct{}), make(chan struct{})
	w, base := site(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/plain")
		switch r.URL.Path {
		case "/long":
			_, _ = fmt.Fprint(rw, long)
		case "/bomb":
			rw.Header().Set("Content-Encoding", "gzip")
			_, _ = rw.Write(bomb)
		case "/broken":
			rw.Header().Set("Content-Length", "100")
			_, _ = fmt.Fprint(rw, "the beginning")
		case "/slow":
			_, _ = fmt.Fprint(rw, "the beginning")
			rw.(http.Flusher).Flush()
			close(begun)
			<-end
		}
	})
	defer close(end)
	got, next := "", 0
	for calls := 0; calls == 0 || next > 0; calls++ {
		r, bad := browse(t, w, map[string]any{"url": base + "/long", "offset": next})
		if bad != nil || calls > 100 || r.Cut != (r.Next > 0) {
			t.Fatalf("%+v, %+v", r, bad)
		}
		got, next = got+r.Text, r.Next
	}
	if got != long {
		t.Errorf("%d bytes, not %d", len(got), len(long))
	}
	w.config.Fetch.MaxBytes = 100_000
	if r, bad := browse(t, w, map[string]any{"url": base + "/long", "offset": 99_990}); bad != nil || !r.Cut || !strings.Contains(r.Note, "maxBytes") || r.Size != 100_000 || len(r.Text) > 20 {
		t.Errorf("%+v, %+v", r, bad)
	}
	if r, bad := browse(t, w, map[string]any{"url": base + "/bomb"}); bad != nil || !r.Cut || r.Size != 100_000 {
		t.Errorf("bomb: %d bytes of text, %+v, %+v", len(r.Text), r.Note, bad)
	}
	if r, bad := browse(t, w, map[string]any{"url": base + "/broken"}); bad != nil || !r.Cut || r.Text != "the beginning" || !strings.Contains(r.Note, "is incomplete") {
		t.Errorf("%+v, %+v", r, bad)
	}
	ctx, stop := context.WithCancel(t.Context())
	go func() { <-begun; stop() }() // the time runs out while the server is at it
	u, bad := fetchAddress(w.config.Fetch, base+"/slow")
	if bad != nil {
		t.Fatal(bad)
	}
	if r, err := get(ctx, w.config.Fetch, u, func(string) {}); err == nil && (!r.Cut || r.Text != "the beginning") {
		t.Errorf("%+v", r)
	}
}

func TestFetchTellsProgress(t *testing.T) {
	t.Parallel()
	w, base := site(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/plain")
		_, _ = rw.Write(bytes.Repeat([]byte("x"), 600<<10))
	})
	var told []string
	_, err := FetchTool(w.deps()).Call(t.Context(), Call{Args: json.RawMessage(`{"url":"` + base + `"}`), Caller: w.caller, Progress: func(s string) { told = append(told, s) }})
	if err != nil || len(told) != 3 || !strings.HasPrefix(told[0], "fetching ") || !strings.Contains(told[2], "KiB") {
		t.Errorf("%q, %v", told, err)
	}
}

func TestReadPage(t *testing.T) {
	t.Parallel()
	base, err := url.Parse("https://example.org/dir/page")
	if err != nil {
		t.Fatal(err)
	}
	title, text := readPage(strings.NewReader(`<!doctype html><html><head><title> The  title </title><style>p{}</style><script>var x="<p>no</p>"</script></head>
<body><nav><a href="/home">Home</a> <a href="#top">Top</a></nav><h1>Head<em>ing</em></h1><p>One
two <a href="other?a=1&amp;b=2">three</a>.</p><p>Next<br>line &lt;b&gt;</p><ul><li>a<li>b<ol><li>c<li>d</ol></ul><pre>  x
    y</pre><table><tr><th>A<th>B</tr><tr><td>1<td>2</table><img alt="A cat" src=x><svg><text>no</text></svg>
<noscript>no</noscript><a href="javascript:alert(1)">js</a></body>`), base)
	const want = `Home <https://example.org/home> Top

# Heading

One two three <https://example.org/dir/other?a=1&b=2>.

Next
line <b>

- a
- b

  1. c
  2. d

  x
    y

A | B
1 | 2

[image: A cat] js`
	if title != "The title" || text != want {
		t.Errorf("%q\n%s", title, text)
	}
}

// FuzzReadPage: no page takes longer than its length, or ends in a panic.
func FuzzReadPage(f *testing.F) {
	for _, s := range []string{"<p>a", "<script>", "<svg><svg></svg>x", "</ul></a></pre></title>", "<li><li>", "<a href='::'>x</a>", "<h6><h9>", "<title>a<title>b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		title, text := readPage(strings.NewReader(s), &url.URL{Scheme: "http", Host: "h"})
		if len(title)+len(text) > 40*len(s)+1000 {
			t.Errorf("%d bytes of %d", len(title)+len(text), len(s))
		}
	})
}
