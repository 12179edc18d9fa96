package channels

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Speaker is the name of the person that a line of the transcript begins with. Lines about the agent's own words begin with "You", so a
// person of that name is told apart.
func Speaker(u Sender) string {
	name := Typed(TypedQuotes(SenderName(u)))
	switch {
	case !readsAsYou(name):
		return name
	case u.ID == "":
		return "another person called " + name
	}
	return "another person called " + name + ", id " + OneLine(string(u.ID))
}

// readsAsYou reports whether a line that begins with the name would read like one that the agent wrote: "You", and with a colon or
// a bracket behind it.
func readsAsYou(name string) bool {
	const longest = 40
	letters := ""
	for i, c := range norm.NFKD.String(strings.ToLower(name)) {
		switch {
		case unicode.IsLetter(c) || unicode.IsDigit(c):
			letters += asciiOfYou.Replace(string(unicode.ToLower(c)))
		case letters != "" && strings.ContainsRune("(:[︰：∶꞉ː", c):
			return letters == "you"
		}
		if len(letters) > len("you") || i > longest {
			return false
		}
	}
	return letters == "you"
}

// asciiOfYou writes letters that look like those of "you" in ASCII.
// source: Unicode UTS #39, confusables
var asciiOfYou = strings.NewReplacer("у", "y", "ү", "y", "γ", "y", "ʏ", "y", "ყ", "y", "ỿ", "y", "о", "o", "ο", "o", "օ", "o", "ᴏ", "o", "σ", "o", "0", "o", "υ", "u", "ս", "u", "ᴜ", "u", "ʋ", "u")
