package tools

import (
	"bufio"
	"compress/gzip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/net/idna"

	"parley/policy"
)

//go:embed fetch.md
var fetchText string

const (
	fetchShown     = 40 * 1024        // bytes of text in one result
	fetchDefault   = 1 << 20          // tools.fetch.maxBytes
	fetchTimeout   = 30 * time.Second // tools.fetch.timeoutSeconds
	fetchRedirects = 5
	fetchURL       = 4000 // bytes of an address
)

type fetchArgs struct {
	URL    string  `json:"url" jsonschema:"http or https address"`
	Offset integer `json:"offset,omitzero" jsonschema:"bytes of the text to leave out; default 0"`
}

// fetchResult is what came back. Text is from outside: it stands in the result as data and nowhere else.
type fetchResult struct {
	URL    string `json:"url"` // where the text is from, after redirects
	Code   int    `json:"httpStatus"`
	Type   string `json:"contentType"`
	Title  string `json:"title,omitempty"`
	Size   int    `json:"size"` // bytes that were read, at most what tools.fetch.maxBytes allows
	Text   string `json:"textFromOutside,omitempty"`
	Offset int    `json:"offset,omitempty"`
	Next   int    `json:"next,omitempty"`      // offset of the next piece
	Cut    bool   `json:"truncated,omitempty"` // there is more than this
	Note   string `json:"note,omitempty"`
}

type fetch struct{ deps Deps }

// FetchTool is the tool fetch: HTTP GET, within limits of size, time and addresses.
func FetchTool(d Deps) Tool { return fetch{d} }

var fetchSchema = schemaOf[fetchArgs](nil)

func (t fetch) Spec() Spec {
	return Spec{Name: "fetch", Description: fetchText, Schema: fetchSchema, Timeout: t.timeout() + 10*time.Second}
}

func (t fetch) timeout() time.Duration {
	if n := t.deps.config().Fetch.TimeoutSeconds; n > 0 {
		return time.Duration(n) * time.Second
	}
	return fetchTimeout
}

func (t fetch) Call(ctx context.Context, c Call) (Result, error) {
	args, bad := decode[fetchArgs](c.Args)
	if bad != nil {
		return bad.result(), nil
	}
	conf := t.deps.config().Fetch
	u, bad := fetchAddress(conf, args.URL)
	if bad != nil {
		return bad.result(), nil
	}
	limited, cancel := context.WithTimeout(ctx, t.timeout())
	defer cancel()
	c.tell("fetching " + u.Hostname())
	r, err := get(limited, conf, u, c.tell)
	if err != nil {
		if ctx.Err() != nil {
			return Result{}, ctx.Err()
		}
		return t.failed(limited, u, err).result(), nil
	}
	show := shown{redact: t.deps.Redact, block: len(r.Text) + fetchShown}
	r.Text, r.Title, r.URL = show.text(r.Text), show.text(r.Title), show.text(r.URL)
	for most := fetchShown; ; most /= 2 { // what has to be escaped takes more room
		p := r
		if p.piece(args.Offset.or(0), most); len(encode(p)) <= maxRows {
			return reply(p), nil
		}
	}
}

// tell reports progress.
func (c Call) tell(text string) {
	if c.Progress != nil {
		c.Progress(text)
	}
}

// fetchAddress reads an address and asks the rules about it.
func fetchAddress(conf Fetch, raw string) (*url.URL, *problem) {
	if len(raw) > fetchURL {
		return nil, mistake("the address is longer than %d bytes", fetchURL)
	}
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, mistake("url must be an http or https address, for example https://example.org/page")
	}
	if u.User != nil {
		return nil, mistake("the url must not contain a user name or password")
	}
	u.Fragment = ""
	if why := conf.forbids(u); why != "" {
		return nil, forbidden("%s", why)
	}
	return u, nil
}

// forbids says why a host may not be fetched; "" = it may.
func (f Fetch) forbids(u *url.URL) string {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if a, err := idna.Lookup.ToASCII(host); err == nil {
		host = a
	}
	match := func(pattern string) bool { return policy.Glob(strings.ToLower(strings.TrimSpace(pattern)), host) }
	short, _ := clip(host, 200)
	switch {
	case slices.ContainsFunc(f.DenyHosts, match):
		return fmt.Sprintf("the host %s is in tools.fetch.denyHosts", short)
	case len(f.AllowHosts) > 0 && !slices.ContainsFunc(f.AllowHosts, match):
		return fmt.Sprintf("the host %s is not in tools.fetch.allowHosts", short)
	}
	return ""
}

// refusedError is a redirect that the rules forbid.
type refusedError struct{ p *problem }

func (e *refusedError) Error() string { return e.p.Error }

// get makes the request and reads the answer.
func get(ctx context.Context, conf Fetch, u *url.URL, tell func(string)) (fetchResult, error) {
	tr := &http.Transport{ // one of its own for each call: nothing is left of it, and no proxy of the environment is in the way
		DialContext: publicDial(conf.AllowPrivate), DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: 64 << 10,
		TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true,
	}
	defer tr.CloseIdleConnections()
	client := http.Client{Transport: tr, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > fetchRedirects {
			return fmt.Errorf("more than %d redirects", fetchRedirects)
		}
		if _, bad := fetchAddress(conf, req.URL.String()); bad != nil {
			return &refusedError{bad}
		}
		req.Header.Del("Referer")
		tell("sent on to " + req.URL.Hostname())
		return nil
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return fetchResult{}, err
	}
	req.Header.Set("User-Agent", "parley")
	req.Header.Set("Accept", "text/html, text/plain, application/json, application/xml;q=0.9, */*;q=0.5")
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := client.Do(req)
	if err != nil {
		return fetchResult{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	return read(resp, orElse(conf.MaxBytes, fetchDefault), tell)
}

// read takes what is text out of an answer. Both what comes over the wire and what becomes of it are bounded.
func read(resp *http.Response, most int, tell func(string)) (r fetchResult, err error) {
	final := *resp.Request.URL
	final.Fragment = ""
	r = fetchResult{URL: final.String(), Code: resp.StatusCode}
	var body io.Reader = &metered{r: io.LimitReader(resp.Body, int64(most)+1), tell: tell}
	switch enc := strings.ToLower(resp.Header.Get("Content-Encoding")); enc {
	case "", "identity":
	case "gzip", "x-gzip":
		if body, err = gzip.NewReader(body); err != nil {
			return r, fmt.Errorf("the response is not gzip: %w", err)
		}
	default:
		r.Type, r.Note = resp.Header.Get("Content-Type"), "the response has an unknown encoding, so it is not shown: "+enc
		return r, nil
	}
	text := &boundedReader{r: body, left: most + 1}
	in := bufio.NewReaderSize(text, 4096)
	start, err := in.Peek(1024)
	if err != nil && !errors.Is(err, io.EOF) && len(start) == 0 {
		return r, err
	}
	if r.Type = resp.Header.Get("Content-Type"); r.Type == "" {
		r.Type = http.DetectContentType(start)
	}
	kind, params, err := mime.ParseMediaType(r.Type)
	if err != nil {
		kind, _, _ = strings.Cut(strings.ToLower(r.Type), ";")
	}
	r.Type, _ = clip(kind, 100)
	switch {
	case !textual(kind), params["charset"] == "" && slices.Contains(start, 0) && !utf16Mark(start):
		r.Note = "the content is not text, so it is not shown"
		if n := resp.ContentLength; n >= 0 {
			r.Note += fmt.Sprintf("; %d bytes", n)
		}
		return r, nil
	case len(start) == 0:
		r.Note = "it is empty"
		return r, nil
	}
	if err := r.decode(in, kind, resp); err != nil {
		return r, err
	}
	switch r.Size = min(most+1-text.left, most); {
	case text.err != nil && r.Text == "":
		return r, text.err
	case text.err != nil:
		r.Cut, r.Note = true, "the response is incomplete: "+plainNet(text.err)
	case text.left == 0:
		r.Cut, r.Note = true, fmt.Sprintf("only the first %d bytes were read (tools.fetch.maxBytes)", most)
	}
	return r, nil
}

// decode reads text in whatever character set it is in, as far as there is any.
func (r *fetchResult) decode(in io.Reader, kind string, resp *http.Response) error {
	if !strings.HasSuffix(kind, "json") {
		var err error
		if in, err = charset.NewReader(in, resp.Header.Get("Content-Type")); err != nil {
			return fmt.Errorf("decode the character set: %w", err)
		}
	}
	if kind == "text/html" || kind == "application/xhtml+xml" {
		r.Title, r.Text = readPage(in, resp.Request.URL)
		r.Title, _ = clip(r.Title, 300)
	} else {
		b, _ := io.ReadAll(in) // the source keeps its error
		r.Text = string(b)
	}
	r.Text = strings.ReplaceAll(strings.ToValidUTF8(r.Text, "\uFFFD"), "\x00", "\uFFFD")
	return nil
}

// piece cuts the text to what one result holds.
func (r *fetchResult) piece(from, most int) {
	more := 0
	if r.Text, r.Offset, more = pieceOf(r.Text, from, most); more > 0 {
		r.Next, r.Cut = more, true
	}
	if r.Text == "" && r.Offset > 0 && r.Note == "" {
		r.Note = "there is no more text"
	}
}

// pieceOf gives at most so many bytes of a text, where they begin and where the next piece does; 0 = there is none.
func pieceOf(text string, from, most int) (piece string, at, next int) {
	from = min(max(from, 0), len(text))
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	to := min(from+most, len(text))
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	if to < len(text) {
		next = to
	}
	return text[from:to], from, next
}

func textual(kind string) bool {
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+xml") || strings.HasSuffix(kind, "+json") ||
		slices.Contains([]string{"application/json", "application/xml", "application/javascript", "application/x-javascript", "application/yaml", "application/toml", "application/sql", "application/x-ndjson"}, kind)
}

func utf16Mark(b []byte) bool {
	return len(b) > 1 && (b[0] == 0xFE && b[1] == 0xFF || b[0] == 0xFF && b[1] == 0xFE)
}

// failed words a fetch that gave nothing.
func (t fetch) failed(ctx context.Context, u *url.URL, err error) *problem {
	host, _ := clip(u.Hostname(), 200)
	if p, ok := errors.AsType[*refusedError](err); ok {
		return forbidden("%s redirects to an address that this tool must not fetch: %s", host, p.p.Error)
	}
	if a, ok := errors.AsType[*addressError](err); ok {
		return forbidden("cannot fetch %s: %s. The owner can set tools.fetch.allowPrivate.", host, a)
	}
	if ctx.Err() != nil {
		return mistake("%s did not answer within %s", host, t.timeout())
	}
	why, _ := clip(plainNet(err), 500)
	return mistake("cannot fetch %s: %s", host, why)
}

// plainNet takes the wrapping off a network error.
func plainNet(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return strings.ToValidUTF8(err.Error(), "\uFFFD")
}

// metered tells how much has come in.
type metered struct {
	r    io.Reader
	tell func(string)
	n    int
	told int
}

const meterStep = 256 << 10

func (m *metered) Read(b []byte) (int, error) {
	n, err := m.r.Read(b)
	if m.n += n; m.n-m.told >= meterStep {
		m.told = m.n
		m.tell(fmt.Sprintf("%d KiB so far", m.n>>10))
	}
	return n, err
}

// boundedReader gives a bounded number of bytes, and keeps the error that ended them early: readers above it swallow it.
type boundedReader struct {
	r    io.Reader
	left int
	err  error
}

func (k *boundedReader) Read(b []byte) (int, error) {
	if k.err != nil {
		return 0, k.err
	}
	if k.left == 0 {
		return 0, io.EOF
	}
	n, err := k.r.Read(b[:min(len(b), k.left)])
	if k.left -= n; err != nil && !errors.Is(err, io.EOF) {
		k.err = err
	}
	return n, err
}
