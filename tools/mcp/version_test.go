package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/tools"
)

// A server that answers the handshake with a version that is not spoken is disconnected: the status and the log name its version and parley's, and
// it is not started again every minute. One that names no version, or an odd one that is spoken, is spoken to.
//
// source: modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation (the client should disconnect),
// strowk/mcp-k8s-go#40 (2024-10-07), php-mcp/server#34 (its newest, whatever was asked)
func TestVersions(t *testing.T) {
	t.Parallel()
	const spoken = "parley speaks 2024-11-05 to 2025-11-25"
	for answer, want := range map[string]string{ // "" = it runs
		`{"protocolVersion":"1.0","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`:        "it speaks version 1.0 of MCP, and " + spoken,
		`{"protocolVersion":"2027-01-01","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`: "it speaks version 2027-01-01 of MCP, and " + spoken,
		`{"protocolVersion":20,"capabilities":{}}`:                                                             "it speaks version 20 of MCP",
		`{}`: "it takes none of the versions of MCP that parley speaks, 2024-11-05 to 2025-11-25",
		`{"protocolVersion":"2024-10-07","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`:                         "",
		`{"protocolVersion":"2025-06-18 ","capabilities":{"tools":[]},"serverInfo":"x"}`:                                               "",
		`{"protocolVersion":"2026-07-28","capabilities":{"tools":true},"serverInfo":{"name":5,"version":1.0}}`:                         "",
		`{"capabilities":{"tools":{"listChanged":"yes"}}}`:                                                                             "",
		`{"protocolVersion":null,"capabilities":[]}`:                                                                                   "",
		`{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"x","version":"1"},"instructions":7}`:                  "",
		`{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"prompts":5},"serverInfo":{"name":"x","version":"1","icons":"x"}}`: "",
	} {
		synctest.Test(t, func(t *testing.T) {
			starts := 0
			r := newRig(t, one(tools.MCPServer{Command: "x", Enabled: true, TimeoutSeconds: 60}), inMemory(func(p *peer, id json.RawMessage, m string, a json.RawMessage) (string, bool) {
				if m != "initialize" {
					return listing(plainTool)(p, id, m, a)
				}
				starts++
				return answer, true
			}))
			defer r.stop()
			names := strings.Join(r.names(false), " ")
			time.Sleep(time.Hour)
			s := r.Status()[0]
			switch {
			case want == "" && (names != "x_t" || s.State != Running || starts != 1):
				t.Errorf("%s: %q %v, started %d times", answer, names, s, starts)
			case want != "" && (s.State != Down || !strings.Contains(s.Detail, want) || !strings.Contains(r.log.String(), want) || starts < 3 || starts > 8):
				t.Errorf("%s: %v, started %d times\n%s", answer, s, starts, r.log)
			}
		})
	}
}

// A server that refuses the newest version is asked for one that it names, or else for the older ones. It is asked for that at once when it is
// started again.
//
// source: sickn33/agentic-awesome-skills#1003, higress-group/higress#3226, hkr04/cpp-mcp#10
func TestRefusedVersions(t *testing.T) {
	t.Parallel()
	for refusal, c := range map[string]struct {
		takes string
		want  string // versions that it was asked for
	}{
		`{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2024-11-05"],"requested":"2025-11-25"}}`:              {"2024-11-05", "2025-11-25 2024-11-05"},
		`{"code":-32602,"message":"Unsupported protocol version","data":{"code":"PROTOCOL_VERSION_INCOMPATIBLE","expected":"2025-06-18"}}`:   {"2025-06-18", "2025-11-25 2025-06-18"},
		`{"code":-32602,"message":"unsupported protocol version: 2025-11-25"}`:                                                               {"2025-03-26", "2025-11-25 2025-06-18 2025-03-26"},
		`{"code":-32000,"message":"Bad Request: Unsupported protocol version (supported versions: 2025-06-18, 2025-03-26, 2024-11-05)"}`:     {"2025-06-18", "2025-11-25 2025-06-18"},
		`{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28","2027-01-01"],"requested":"2025-11-25"}}`: {"", "2025-11-25"},
		`{"code":-32602,"message":"Invalid params: protocolVersion is not supported"}`:                                                       {"", "2025-11-25 2025-06-18 2025-03-26 2024-11-05"},
		`{"code":-32601,"message":"Method not found"}`:                                                                                       {"2025-06-18", "2025-11-25"},
		`{"code":-32600,"message":"Invalid request: the key is not valid"}`:                                                                  {"2025-06-18", "2025-11-25"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var asked []string
			versions := func() string { // since it was asked last
				mu.Lock()
				defer mu.Unlock()
				all := strings.Join(asked, " ")
				asked = nil
				return all
			}
			r := newRig(t, one(tools.MCPServer{Command: "x", Enabled: true, TimeoutSeconds: 60}), inMemory(func(p *peer, id json.RawMessage, m string, a json.RawMessage) (string, bool) {
				if m != "initialize" {
					return listing(plainTool)(p, id, m, a)
				}
				var params struct{ ProtocolVersion string }
				_ = json.Unmarshal(a, &params)
				mu.Lock()
				asked = append(asked, params.ProtocolVersion)
				mu.Unlock()
				if params.ProtocolVersion == c.takes {
					return `{"protocolVersion":"` + c.takes + `","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`, true
				}
				p.write(`{"jsonrpc":"2.0","id":` + string(id) + `,"error":` + refusal + `}`)
				return "", false
			}))
			defer r.stop()
			r.names(false)
			s := r.Status()[0]
			if got := versions(); got != c.want || (s.State == Running) != strings.HasSuffix(c.want, " "+c.takes) {
				t.Errorf("%s: asked for %s, %v", refusal, got, s)
			}
			if strings.Contains(refusal, "2027-01-01") && !strings.Contains(s.Detail, "it speaks version 2026-07-28, 2027-01-01 of MCP, and parley speaks 2024-11-05 to 2025-11-25") {
				t.Errorf("%s: %v", refusal, s)
			}
			if s.State == Running {
				srv := r.list()[0]
				l, _ := srv.current()
				_ = l.session.Close()
				time.Sleep(time.Minute)
				if got := versions(); got != c.takes {
					t.Errorf("%s: started again, asked for %s", refusal, got)
				}
			}
		})
	}
}

// So does one that is reached by its URL, and refuses with an error of HTTP.
//
// source: xpzouying/xiaohongshu-mcp#697, newo-ether/Agora#78
func TestRefusedVersionsOverHTTP(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"Bad Request: Unsupported protocol version \n(supported versions: 2025-06-18, 2025-03-26, 2024-11-05)\n",
		`{"error":{"code":-32000,"message":"Bad Request: Unsupported protocol version (supported versions: 2025-06-18, 2025-03-26, 2024-11-05)"},"jsonrpc":"2.0"}`} {
		var refused atomic.Int64
		h := handler(t)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			if bytes.Contains(body, []byte(`"initialize"`)) && bytes.Contains(body, []byte("2025-11-25")) {
				refused.Add(1)
				http.Error(w, page, http.StatusBadRequest)
				return
			}
			h.ServeHTTP(w, r)
		}))
		t.Cleanup(s.Close)
		rig := newRig(t, one(remote(s.URL)))
		rig.running()
		if got := rig.call("x_echo", `{"a":1}`); got.Text != `{"a":1}` || refused.Load() != 1 {
			t.Errorf("%+v, refused %d times", got, refused.Load())
		}
		rig.stop()
	}
}
