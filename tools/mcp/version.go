package mcp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"parley/channels/pattern"
)

// versions are those of MCP that are spoken, newest first: the ones with a handshake and pings. Servers agree on the newest or on an older one.
//
// source: modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation
var versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// first2024 is the version before the first that was published. Nothing of what is used of it differs. source: strowk/mcp-k8s-go#40
const first2024 = "2024-10-07"

// afterHandshakes is the first version without a handshake. Servers that answer one with it are spoken to as they are.
const afterHandshakes = "2026-07-28"

// codeVersion marks the error that stands for a handshake whose version is not spoken; its message is that version.
const codeVersion = -32096

// mismatchError is why a server and the host do not understand each other. It lasts until one of them is another one.
type mismatchError struct{ server string }

func (e *mismatchError) Error() string {
	if e.server == "" {
		return fmt.Sprintf("it takes none of the versions of MCP that parley speaks, %s to %s, and names none: update the server, or parley", versions[len(versions)-1], versions[0])
	}
	return fmt.Sprintf("it speaks version %s of MCP, and parley speaks %s to %s: update the server, or parley", e.server, versions[len(versions)-1], versions[0])
}

// usualHandshake keeps of the answer to a handshake what is used, in the form that the SDK reads, or makes an error of one whose version is
// not spoken. A server that names no version gets the oldest: it asks the least of a server.
func usualHandshake(m, r members) {
	written := strings.TrimSpace(asText(r["protocolVersion"]))
	version := cmp.Or(written, versions[len(versions)-1])
	if version == first2024 {
		version = versions[len(versions)-1]
	}
	taken := append([]string{afterHandshakes}, versions...)
	i := slices.IndexFunc(taken, func(v string) bool { return strings.Contains(version, v) })
	if i < 0 {
		delete(m, "result")
		m.set("error", map[string]any{"code": codeVersion, "message": line(clean(version), 50)})
		return
	}
	out := members{}
	out.set("protocolVersion", taken[i])
	offers := decodeMembers(r["capabilities"])
	has := members{}
	if tools := string(offers["tools"]); len(offers) == 0 || tools != "" && tools != "null" && tools != "false" { // one that says nothing is asked
		changes := string(decodeMembers(offers["tools"])["listChanged"])
		has.set("tools", map[string]bool{"listChanged": changes == "true"})
	}
	out.set("capabilities", has)
	is := decodeMembers(r["serverInfo"])
	name, _ := is.text("name")
	if is == nil {
		name = asText(r["serverInfo"])
	}
	out.set("serverInfo", map[string]string{"name": name, "version": asText(is["version"])})
	m.set("result", out)
}

// isOfHandshake reports whether members are those of the answer to a handshake: tools may give one of them as well.
func (m members) isOfHandshake() bool {
	said := 0
	for _, name := range []string{"protocolVersion", "capabilities", "serverInfo"} {
		if m[name] != nil {
			said++
		}
	}
	return m["content"] == nil && (said > 1 || said == len(m) && m["capabilities"] != nil)
}

var (
	// unsupported is the SDK's error for an answer without a version.
	unsupported = pattern.New(`unsupported protocol version: "([^"]*)"`)
	anyVersion  = pattern.New(`\b20\d\d-\d\d-\d\d\b`)
	// refusesVersion matches what servers say that refuse a version instead of answering with theirs.
	refusesVersion = pattern.New(`(?i)(?:un|not )support[^\n]{0,40}\bversion|\bversion[^\n]{0,60}(?:\bun|\bnot |in)(?:support|valid|compatib|known|accept)|protocol_?version[^\n]{0,20}(?:mismatch|incompatib)|(?:invalid|unknown|bad)[^\n]{0,20}protocol_?\s?version`)
)

// refusal reads an error of a handshake that is about the version that was asked for: next is another one to ask for, "" = there is none. said is
// what the server said besides. Servers should answer with a version of theirs, and some refuse instead.
//
// source: xpzouying/xiaohongshu-mcp#697, sickn33/agentic-awesome-skills#1003, higress-group/higress#3226, hkr04/cpp-mcp#10
func refusal(err error, said, asked string, tried []string) (next string, mismatch error) {
	text := said
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		if e.Code == codeVersion {
			return "", &mismatchError{e.Message}
		}
		text += "\n" + e.Message + "\n" + string(e.Data)
	}
	if m := unsupported.FindStringSubmatch(err.Error()); m != nil {
		return "", &mismatchError{m[1]}
	}
	if !refusesVersion.MatchString(text) {
		return "", nil
	}
	named := slices.DeleteFunc(anyVersion.FindAllString(text, -1), func(v string) bool { return slices.Contains(tried, v) })
	for _, v := range versions {
		if !slices.Contains(tried, v) && (len(named) == 0 && v < asked || slices.Contains(named, v)) {
			return v, nil
		}
	}
	slices.Sort(named)
	return "", &mismatchError{strings.Join(slices.Compact(named), ", ")}
}

// maxHead is how many bytes are read of a page that may say so, in an error of HTTP.
const maxHead = 4 << 10

// said gives the message of a page that is an error of JSON-RPC, or the page.
func said(page []byte) string {
	var m struct{ Error json.RawMessage }
	if json.Unmarshal(page, &m) == nil && len(m.Error) > 0 {
		return string(m.Error)
	}
	return string(page)
}
