package channels

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever form a secret stands in, and whatever stands around it, it is taken out, and what stands around it stays.
func TestHide(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9+/=&<>"%~é :@-]{10,38}[A-Za-z0-9]`).Draw(t, "secret")
		around := rapid.StringMatching(`[a-z]{0,5}`).Draw(t, "around")
		quoted, _ := json.Marshal(secret)
		hide := Hide(NewSecret("another-secret"), NewSecret(secret))
		for _, text := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), (&url.URL{Path: secret}).EscapedPath(), string(quoted[1 : len(quoted)-1])} {
			if got := hide.Replace(around + " " + text + " " + around); got != around+" [secret] "+around {
				t.Fatalf("%q: %q", text, got)
			}
		}
		for _, code := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
			got := hide.Replace("Basic " + code.EncodeToString([]byte(around+secret+around)))
			if !strings.HasPrefix(got, "Basic ") || !strings.Contains(got, "[secret]") || len(got) > len("Basic [secret]")+2*8+8 {
				t.Fatalf("base64: %q", got)
			}
		}
	})
	if got := Hide(NewSecret("short"), NewSecret("")).Replace("a short word"); got != "a short word" {
		t.Error(got)
	}
	if got := Hide(NewSecret("0123456789"), NewSecret("0123456789-longer")).Replace("x 0123456789-longer y"); got != "x [secret] y" {
		t.Error(got)
	}
}
