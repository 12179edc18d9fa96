package telegramtest

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
)

// htmlTags are the tags that Telegram's HTML mode knows.
var htmlTags = []string{
	"a", "b", "strong", "i", "em", "s", "strike", "del", "u", "ins", "tg-spoiler", "tg-emoji", "span", "pre", "code", "blockquote",
}

var htmlEntity = regexp.MustCompile(`&(?:lt|gt|amp|quot|#[0-9]+|#x[0-9a-fA-F]+);`)

// entity is a part of a text that is marked.
type entity struct{ tag, url string }

var hrefPattern = regexp.MustCompile(`(?i)\bhref\s*=\s*["']([^"']*)["']`)

// parseHTML reads Telegram's HTML mode and gives the text that people see, with its entities in the order of their beginnings. It refuses
// what the real server refuses, in its words.
func parseHTML(text string) (string, []entity, error) {
	var out strings.Builder
	var entities []entity
	var open []string
	for i := 0; i < len(text); {
		switch {
		case text[i] != '<':
			end := strings.IndexByte(text[i:], '<')
			if end < 0 {
				end = len(text) - i
			}
			out.WriteString(htmlEntity.ReplaceAllStringFunc(text[i:i+end], html.UnescapeString))
			i += end
		case strings.HasPrefix(text[i:], "</"):
			end := strings.IndexByte(text[i:], '>')
			if end < 0 {
				return "", nil, fmt.Errorf("Unclosed end tag at byte offset %d", i) //nolint:staticcheck // the platform's words
			}
			name := strings.ToLower(strings.TrimSpace(text[i+2 : i+end]))
			if len(open) == 0 {
				return "", nil, fmt.Errorf("Unexpected end tag at byte offset %d", i) //nolint:staticcheck // the platform's words
			}
			last := open[len(open)-1]
			if name != "" && name != last {
				return "", nil, fmt.Errorf(`Unmatched end tag at byte offset %d, expected "</%s>", found "</%s>"`, i, last, name) //nolint:staticcheck // the platform's words
			}
			open, i = open[:len(open)-1], i+end+1
		default:
			name, next, err := startTag(text, i)
			if err != nil {
				return "", nil, err
			}
			e := entity{tag: name}
			if href := hrefPattern.FindStringSubmatch(text[i:next]); name == "a" && href != nil {
				e.url = html.UnescapeString(href[1])
			}
			entities = append(entities, e)
			open, i = append(open, name), next
		}
	}
	if len(open) > 0 {
		return "", nil, fmt.Errorf(`Can't find end tag corresponding to start tag "%s"`, open[len(open)-1]) //nolint:staticcheck // the platform's words
	}
	return out.String(), entities, nil
}

// startTag reads the tag that starts at i and gives its name and where it ends.
func startTag(text string, i int) (name string, next int, err error) {
	end := i + 1
	for end < len(text) && !strings.ContainsRune(" \t\r\n>", rune(text[end])) {
		end++
	}
	name = strings.ToLower(text[i+1 : end])
	if end == len(text) {
		return "", 0, fmt.Errorf("Unclosed start tag at byte offset %d", i) //nolint:staticcheck // the platform's words
	}
	if !slices.Contains(htmlTags, name) {
		return "", 0, fmt.Errorf(`Unsupported start tag "%s" at byte offset %d`, name, i) //nolint:staticcheck // the platform's words
	}
	attributes := text[end:]
	for {
		attributes = strings.TrimLeft(attributes, " \t\r\n")
		if strings.HasPrefix(attributes, ">") {
			return name, len(text) - len(attributes) + 1, nil
		}
		_, rest, found := strings.Cut(attributes, "=")
		if bare := strings.IndexAny(attributes, " >"); bare > 0 && (!found || bare < strings.IndexByte(attributes, '=')) {
			attributes = attributes[bare:] // an attribute without a value, as in <blockquote expandable>
			continue
		}
		if !found {
			return "", 0, fmt.Errorf(`Unclosed start tag "%s" at byte offset %d`, name, i) //nolint:staticcheck // the platform's words
		}
		rest = strings.TrimLeft(rest, " \t\r\n")
		closing := -1
		if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
			closing = strings.IndexByte(rest[1:], rest[0])
		} else if plain := strings.IndexAny(rest, " \t\r\n>"); plain >= 0 {
			attributes = rest[plain:]
			continue
		}
		if closing < 0 {
			return "", 0, fmt.Errorf(`Unclosed start tag "%s" at byte offset %d`, name, i) //nolint:staticcheck // the platform's words
		}
		attributes = rest[closing+2:]
	}
}
