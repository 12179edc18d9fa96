package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const cookieTTL = 30 * 24 * time.Hour

// ticket is what a cookie says: "<name of the token>.<unix end>.<signature>". Nothing is stored. What the token may do is looked up at
// each request.
type ticket struct {
	name string
	end  int64
	mac  []byte
}

func (t ticket) text() string { return t.name + "." + strconv.FormatInt(t.end, 10) }

func readTicket(text string) (t ticket, ok bool) {
	text, sig, _ := cutLast(text)
	name, end, ok := cutLast(text)
	if !ok {
		return t, false
	}
	unix, err := strconv.ParseInt(end, 10, 64)
	mac, broken := hex.DecodeString(sig)
	return ticket{name, unix, mac}, err == nil && broken == nil
}

func cutLast(text string) (before, after string, ok bool) {
	i := strings.LastIndexByte(text, '.')
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

// seal signs what a ticket says.
func (k key) seal(t ticket) []byte {
	m := hmac.New(sha256.New, k.sign[:])
	m.Write([]byte(t.text()))
	return m.Sum(nil)
}

// session gives the token that a request's cookie stands for, while there is one; renew when most of its time is over.
func (s *state) session(r *http.Request) (k key, renew, ok bool) {
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return k, false, false
	}
	t, ok := readTicket(c.Value)
	i := slices.IndexFunc(s.keys, func(k key) bool { return k.name == t.name })
	if !ok || i < 0 || !hmac.Equal(t.mac, s.keys[i].seal(t)) {
		return k, false, false
	}
	left := time.Until(time.Unix(t.end, 0))
	return s.keys[i], left < cookieTTL/2, left > 0
}

func (s *state) setCookie(w http.ResponseWriter, r *http.Request, k key) {
	t := ticket{name: k.name, end: time.Now().Add(cookieTTL).Unix()}
	putCookie(w, r, t.text()+"."+hex.EncodeToString(k.seal(t)), int(cookieTTL.Seconds()))
}

func putCookie(w http.ResponseWriter, r *http.Request, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: value, Path: "/", MaxAge: seconds,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: encrypted(r),
	})
}

// cookieName has the port in it, because cookies do not tell ports apart.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		return "parley"
	}
	return "parley_" + port
}
