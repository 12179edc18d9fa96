package channels

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A text that arrives in pieces has its secrets taken out wherever it is divided, to the same end as the whole text, and nothing that was
// shown of it is a secret's beginning.
func TestSecretsInPieces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		secrets := []string{"ababab-ab-1", "ab-1-of-the-test", "ababab-ab-1-and-longer", "ünïcode-&-secret"}
		set := NewSecretSet(NewSecret(secrets[0]), NewSecret(secrets[1]), NewSecret(secrets[2]), NewSecret(secrets[3]))
		part := rapid.OneOf(rapid.SampledFrom(secrets), rapid.SampledFrom([]string{"ab", "ababab-", "a", "ab-1", " ", "ü", "x"}))
		text := strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "")
		p, shown := set.Pieces(), ""
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "bytes")
			shown += p.Add(rest[:n])
			rest = rest[n:]
			if whole := set.Replace(text); !strings.HasPrefix(whole, shown) {
				t.Fatalf("%q is no beginning of %q", shown, whole)
			}
		}
		if shown += p.End(false); shown != set.Replace(text) {
			t.Fatalf("%q, not %q", shown, set.Replace(text))
		}
	})
	set := NewSecretSet(NewSecret("0123456789abcdef"), NewSecret("short"))
	for text, want := range map[string]string{"x 01234567": "x [secret]", "x 0123456": "x 0123456", "0123456789abcdef": "[secret]", "short": "short", "": ""} {
		if got := set.ReplaceCut(text); got != want {
			t.Errorf("%q cut: %q, not %q", text, got, want)
		}
	}
	var none SecretSet
	if got := none.Replace("as it is") + none.ReplaceCut("!") + none.Pieces().Add("?"); got != "as it is!?" {
		t.Error(got)
	}
}
