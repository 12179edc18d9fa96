package wire

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestRunsOfSecrets: every part of a secret of twelve bytes goes, wherever it begins, and nothing else.
func TestRunsOfSecrets(t *testing.T) {
	t.Parallel()
	const secret = "abcdefghijklmnopqrstuvwxyz0123456789"
	for _, c := range []struct{ said, want string }{
		{"", ""},
		{"abcdefghijkl", "[secret]"},
		{"bcdefghijkl", "bcdefghijkl"},
		{"-abcdefghijklm-ABCDEFGHIJKLMN-", "-[secret]-[secret]-"},
		{"abcdefghijkl mnopqrstuvwx", "[secret] [secret]"},
		{"abcdefghijklabcdefghijkl", "[secret]"},
		{"qrstuvwxyz01qrstuvwxyz0", "[secret]qrstuvwxyz0"},
		{"sécret abcdefghijklé", "sécret [secret]é"},
		{"nothing of it is here, neither abcdef nor ghijkl", "nothing of it is here, neither abcdef nor ghijkl"},
	} {
		if got := hideRuns(c.said, []string{"short", secret, secret + "|other"}); got != c.want {
			t.Errorf("%q became %q, not %q", c.said, got, c.want)
		}
	}
}

// TestPicturesAreNoSecrets: a refusal of a request with pictures is read in moments, and words of a picture's data stay.
// source: platform.claude.com/docs/en/build-with-claude/vision (source: type, media_type, data),
// platform.claude.com/docs/en/build-with-claude/extended-thinking (redacted_thinking: data)
func TestPicturesAreNoSecrets(t *testing.T) {
	t.Parallel()
	picture := strings.Repeat("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/", 1<<10)
	body := fmt.Sprintf(`{"messages":[{"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":%q}},
		{"type":"input_audio","input_audio":{"data":%q,"format":"wav"}},{"type":"redacted_thinking","data":"OPAQUE-OPAQUE-OPAQUE"}]}]}`, picture, picture)
	req, err := http.NewRequest(http.MethodPost, "http://127.0.0.1:1/", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if got := sealedIn(req); len(got) != 1 || got[0] != "OPAQUE-OPAQUE-OPAQUE" {
		t.Errorf("opaque are %d texts: %.80q", len(got), got)
	}
}

// BenchmarkHideRuns is a refusal of 8 kB that quotes what it refuses, of a request with 4 MB of opaque data.
func BenchmarkHideRuns(b *testing.B) {
	var data strings.Builder
	for i := range 4 << 20 / 16 {
		fmt.Fprintf(&data, "%016x", uint64(i)*sumBase)
	}
	secrets := []string{data.String()}
	said := "could not read " + data.String()[:8<<10]
	for b.Loop() {
		if got := hideRuns(said, secrets); got != "could not read [secret]" {
			b.Fatalf("%.100q", got)
		}
	}
}
