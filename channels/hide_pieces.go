package channels

import "strings"

// SecretSet takes secrets out of whole texts, as Hide does, and out of texts that arrive in pieces. The zero value knows none. It may be
// used by any number of goroutines at the same time.
type SecretSet struct {
	replacer *strings.Replacer // nil = there are no secrets
	byFirst  [256][]string     // the forms of the secrets by their first byte, longest first
}

// NewSecretSet returns the set of some secrets. Those of fewer than 8 bytes are left out: they are words that anybody may write.
func NewSecretSet(secrets ...Secret) *SecretSet {
	s, forms := &SecretSet{}, allForms(secrets)
	if len(forms) > 0 {
		s.replacer = replacerOf(forms)
	}
	for _, f := range forms {
		s.byFirst[f[0]] = append(s.byFirst[f[0]], f)
	}
	return s
}

// Replace returns a text with "[secret]" in the place of each secret.
func (s *SecretSet) Replace(text string) string {
	if s.replacer == nil {
		return text
	}
	return s.replacer.Replace(text)
}

// ReplaceCut is Replace for a text that was cut off: the beginning of a secret at its end, of 8 bytes or more, is taken out as well.
func (s *SecretSet) ReplaceCut(text string) string {
	p := s.Pieces()
	return p.Add(text) + p.End(true)
}

// Pieces returns what takes the secrets out of one text that arrives in pieces.
func (s *SecretSet) Pieces() *SecretPieces { return &SecretPieces{set: s} }

// SecretPieces takes secrets out of one text that arrives in pieces: what may be the beginning of a secret is kept back until the pieces
// behind it tell. All that it returns, put together, is what SecretSet.Replace makes of the whole text. One goroutine uses it.
type SecretPieces struct {
	set  *SecretSet
	kept string
}

// Add takes the next piece and returns what can be shown of the text.
func (p *SecretPieces) Add(piece string) string {
	if p.set.replacer == nil || piece == "" {
		return piece
	}
	text := p.kept + piece
	var out strings.Builder
	from, at := 0, 0
	for at < len(text) {
		form, begun := p.set.formAt(text[at:])
		if begun {
			break
		}
		if form == "" {
			at++
			continue
		}
		out.WriteString(text[from:at])
		out.WriteString(secretMark)
		at += len(form)
		from = at
	}
	p.kept = text[at:]
	if from == 0 {
		return text[:at]
	}
	out.WriteString(text[from:at])
	return out.String()
}

// formAt returns the longest form of a secret that a text begins with, "" for none; begun says that a longer one may have begun, as the
// text is only the beginning of it.
func (s *SecretSet) formAt(text string) (form string, begun bool) {
	for _, f := range s.byFirst[text[0]] {
		switch {
		case len(f) > len(text) && strings.HasPrefix(f, text):
			return "", true
		case strings.HasPrefix(text, f):
			return f, false
		}
	}
	return "", false
}

// End returns the rest of the text, which has ended, and forgets it. cut says that it was cut off: see ReplaceCut.
func (p *SecretPieces) End(cut bool) string {
	rest := p.kept
	p.kept = ""
	if cut && len(rest) >= shortSecret {
		return secretMark
	}
	return p.set.Replace(rest)
}
