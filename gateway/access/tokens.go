package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"math"
	"net/http"
	"strconv"

	"parley/gateway/api"
)

// key is a token, prepared.
type key struct {
	name  string
	scope api.Scope
	short bool              // short enough to be guessed
	sum   [sha256.Size]byte // of the token: what is compared has one length
	sign  [sha256.Size]byte // signs its cookies: a restart keeps people signed in, another token does not
	over  chan struct{}     // closed when it opens nothing any more

	signedOut chan struct{} // closed when its cookies are void
	byCookie  bool          // a cookie stood for it
}

// same reports whether another key opens the same, as the same.
func (k key) same(other key) bool {
	return k.name == other.name && k.scope == other.scope && k.sum == other.sum
}

func keys(ts []Token, epoch string) []key {
	var out []key
	for _, t := range ts {
		if !t.Token.IsZero() {
			text := t.Token.Reveal()
			out = append(out, key{t.Name, t.Scope, len(text) < Long, sha256.Sum256([]byte(text)), signing(text, epoch), make(chan struct{}), make(chan struct{}), false})
		}
	}
	return out
}

// signing gives what signs the cookies of a token in an epoch.
func signing(token, epoch string) [sha256.Size]byte {
	text := "parley web session\x00" + token
	if epoch != "" {
		text = "parley web session of an epoch\x00" + epoch + "\x00" + token
	}
	return sha256.Sum256([]byte(text))
}

func (k key) principal() api.Principal { return api.Principal{Name: k.name, Scope: k.scope} }

// find gives the key of a token that was offered. How long it takes says nothing about how much of it is right, nor whose it is.
func (s *state) find(offered string) (key, bool) {
	got, found := sha256.Sum256([]byte(offered)), -1
	for i, k := range s.keys {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(got[:], k.sum[:]), i, found)
	}
	if found < 0 {
		return key{}, false
	}
	return s.keys[found], true
}

// Long is from how many characters on a secret cannot be guessed at the rate at which the host answers, if it is random.
const Long = 16

// checkToken finds a token that was offered, and refuses the request itself when it is wrong. Whoever has a long token comes in however
// many wrong ones came from the same address; a short one has to wait with them, or guessing on would find it.
func (d *Door) checkToken(s *state, w http.ResponseWriter, r *http.Request, token string) (key, bool) {
	guesses := d.failures.Wait(Client(r.Context())) > 0
	return d.check(w, r, "The token is wrong or no longer valid.", func() (key, bool) {
		k, right := s.find(token)
		return k, right && !(k.short && guesses)
	})
}

// check looks a secret up, and refuses the request itself when it is wrong.
func (d *Door) check(w http.ResponseWriter, r *http.Request, wrong string, find func() (key, bool)) (k key, ok bool) {
	ok, wait := d.failures.Try(Client(r.Context()), func() (right bool) {
		k, right = find()
		return right
	})
	switch {
	case ok:
		return k, true
	case wait > 0:
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		w.Header().Set("Connection", "close") // each more costs a guesser a connection
		d.refuse(w, r, http.StatusTooManyRequests, "Too many wrong tokens. Wait a moment, then try again.")
	default:
		w.Header().Set("WWW-Authenticate", "Bearer")
		d.refuse(w, r, http.StatusUnauthorized, wrong)
	}
	return key{}, false
}
