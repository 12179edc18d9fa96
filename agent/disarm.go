package agent

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:generate go run lookalikes_gen.go

// frames are how the lines begin that Origin and the frame of what was overheard put around the words of others: letters and colons.
var frames = func() (reduced []string) {
	for _, f := range []string{"intersessionmessage", "messageof", "host:", "overheard", "endofwhatwasoverheard", "endofthedata"} {
		reduced = append(reduced, reduce.Replace(f))
	}
	return reduced
}()

// reduce writes letters that look like one another, or like two others, in one way: the skeletons of UTS #39 for the letters of frames.
var reduce = strings.NewReplacer("l", "i", "w", "vv", "m", "rn")

// disarm keeps a text from looking like it came from another session or from the host, or like the frame of what was overheard, also
// with characters in it that nobody sees, or that look like others.
func disarm(text string) string {
	var b strings.Builder
	done := 0
	for i, c := range text {
		if !opens(c) {
			continue
		}
		behind := i + len(string(c))
		if framed(text[behind:]) {
			b.WriteString(text[done:i] + "(")
			done = behind
		}
	}
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

// firstBracket is the first of openBrackets beyond ASCII, which are in order: letters of most scripts stand before it.
var firstBracket, _ = utf8.DecodeRuneInString(openBrackets[len("["):])

// opens reports whether a character looks like the bracket that a frame begins with.
func opens(c rune) bool {
	return c == '[' || c >= firstBracket && strings.ContainsRune(openBrackets, c)
}

// framed reports whether what stands behind a bracket reads like the beginning of a frame.
func framed(text string) bool {
	at := make([]uint32, len(frames)) // a bit for every number of letters of the frame that may be read so far
	for i := range frames {
		at[i] = 1
	}
	for _, c := range text {
		if c == ']' || opens(c) {
			return false // the other bracket is looked at by itself
		}
		readings, silent := readingsOf(c)
		open := false
		for i, f := range frames {
			next, whole := step(f, at[i], readings)
			if whole {
				return true
			}
			if silent {
				next |= at[i]
			}
			at[i] = next
			open = open || next != 0
		}
		if !open {
			return false
		}
	}
	return false
}

// step reads on in a frame from each place that is reached: whole when that may be its end.
func step(frame string, at uint32, readings []string) (next uint32, whole bool) {
	for n := 0; n < len(frame) && at>>n != 0; n++ {
		if at>>n&1 == 0 {
			continue
		}
		for _, r := range readings {
			switch rest := frame[n:]; {
			case strings.HasPrefix(r, rest):
				return next, true
			case strings.HasPrefix(rest, r):
				next |= 1 << (n + len(r))
			}
		}
	}
	return next, false
}

// readingsOf gives what a character may be read as, in reduced letters; silent when it may also be passed over: what nobody sees, spaces,
// marks and other signs.
func readingsOf(c rune) (readings []string, silent bool) {
	if c < 0x80 {
		return asciiReadings[c], !unicode.IsLetter(c) && !unicode.IsDigit(c)
	}
	unseen := strings.ContainsRune("\u115f\u1160\u3164\uffa0", c) // letters without a shape
	return lookAlikes()[c], unseen || !unicode.IsLetter(c) && !unicode.IsDigit(c)
}

// asciiReadings are those of the characters of ASCII, with the digits and signs that people write for letters.
var asciiReadings = func() (all [0x80][]string) {
	for c := range all {
		if s := string(unicode.ToLower(rune(c))); s >= "a" && s <= "z" || s == ":" {
			all[c] = []string{reduce.Replace(s)}
		}
	}
	for c, letter := range map[rune]string{'0': "o", '1': "i", '|': "i", '!': "i", '3': "e", '4': "a", '@': "a", '5': "s", '$': "s", '6': "g", '9': "g", '7': "t", '+': "t"} {
		all[c] = []string{letter}
	}
	return all
}()

// lookAlikes are the readings of characters beyond ASCII. They are only needed where something stands behind a bracket.
var lookAlikes = sync.OnceValue(func() map[rune][]string {
	m := make(map[rune][]string)
	for _, x := range readAs {
		for _, c := range x.characters {
			m[c] = append(m[c], x.reading)
		}
	}
	return m
})
