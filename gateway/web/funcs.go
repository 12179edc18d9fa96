package web

import (
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"parley/channels"
	"parley/channels/pattern"
	"parley/sessions"
)

// funcs are what templates can use.
var funcs = template.FuncMap{
	"asset":       func(name string) string { return assets().path + "/" + name },
	"icon":        icon,
	"seg":         func(v any) string { return url.PathEscape(fmt.Sprint(v)) }, // one segment of a path
	"when":        timeAgo,                                                     // a time in a <time>, as people say it
	"until":       timeUntil,
	"took":        durationText, // a duration
	"iso":         func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"num":         num,    // 1,234
	"short":       short,  // 12.3k
	"size":        size,   // bytes
	"cost":        cost,   // millionths of a dollar
	"plural":      plural, // plural 2 "run" = 2 runs
	"markdown":    func(md string) template.HTML { return template.HTML(RenderMarkdown(md)) },
	"tone":        tone,      // of a delivery's state or a run's status: good, warn, bad, accent, off
	"dict":        dict,      // dict "A" 1 "B" 2: more than one value for a template
	"cut":         cut,       // cut 80 text
	"plain":       plainLine, // plain 120 text: the first line, without its Markdown
	"flat":        flat,      // flat 240 text: all of it in one line, without its Markdown
	"words":       func(v any) string { return strings.ReplaceAll(fmt.Sprint(v), "_", " ") },
	"list":        func(v ...any) []any { return v },
	"inc":         func(i int) int { return i + 1 },
	"runkind":     kindWords,
	"keykind":     sessionKind,
	"kinds":       kindsWords,
	"rule":        ruleWords,
	"sentkind":    sentKind,
	"canRetry":    canRetry,
	"canDrop":     canDrop,
	"undelivered": undelivered, // of a run's or a job's messages the one that did not arrive
	"because":     because,
	"local":       func(t time.Time) string { return t.Local().Format("2 Jan 2006, 15:04") },
}

// timeAgo gives a time as "3 min ago", with the moment itself for those who point at it; frame.js keeps it true.
func timeAgo(t time.Time) template.HTML {
	if t.IsZero() {
		return "–"
	}
	return stamp(t, ago(time.Since(t), t))
}

// timeUntil gives a time that is to come, as "in 3 min".
func timeUntil(t time.Time) template.HTML { return timeAgo(t) }

func stamp(t time.Time, text string) template.HTML {
	utc := t.UTC()
	return template.HTML(`<time datetime="` + utc.Format(time.RFC3339Nano) + `" data-ago title="` + utc.Format("2 Jan 2006, 15:04:05 MST") + `">` +
		template.HTMLEscapeString(text) + `</time>`)
}

// ago is how long something is past, or ahead. frame.js has the same rules.
func ago(d time.Duration, t time.Time) string {
	form := "%s ago"
	if d < 0 {
		d, form = -d, "in %s"
	}
	switch {
	case d < 45*time.Second && form == "%s ago":
		return "just now"
	case d < time.Minute:
		return fmt.Sprintf(form, fmt.Sprintf("%d s", int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf(form, fmt.Sprintf("%d min", int(d.Minutes())))
	case d < 24*time.Hour:
		return fmt.Sprintf(form, fmt.Sprintf("%d h", int(d.Hours())))
	case d < 30*24*time.Hour:
		return fmt.Sprintf(form, fmt.Sprintf("%d d", int(d.Hours()/24)))
	}
	return t.UTC().Format("2 Jan 2006")
}

func durationText(d time.Duration) string {
	switch {
	case d < 0:
		return "–"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

func whole(v any) int64 {
	n, _ := strconv.ParseInt(fmt.Sprint(v), 10, 64) // templates give whole numbers of several types
	return n
}

func num(v any) string {
	s := strconv.FormatInt(whole(v), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func short(v any) string { return scaled(float64(whole(v)), 1000, "", "k", "M", "G") }

func size(v any) string { return scaled(float64(whole(v)), 1024, " B", " KiB", " MiB", " GiB") }

func scaled(n, step float64, units ...string) string {
	i := 0
	for ; n >= step && i < len(units)-1; i++ {
		n /= step
	}
	if i == 0 || n >= 100 {
		return fmt.Sprintf("%.0f%s", n, units[i])
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", n), ".0") + units[i]
}

func cost(v any) string {
	n := float64(whole(v)) / 1e6
	switch {
	case n == 0:
		return "–"
	case n < 0.01:
		return fmt.Sprintf("$%.4f", n)
	}
	return fmt.Sprintf("$%.2f", n)
}

func plural(n any, word string) string {
	if whole(n) == 1 {
		return "1 " + word
	}
	return num(n) + " " + word + "s"
}

func cut(n int, text string) string {
	r := []rune(text)
	if len(r) <= n {
		return text
	}
	return string(r[:n-1]) + "…"
}

// marks are what Markdown puts around words, and in front of a line.
var marks = pattern.New("^(#{1,6}|>|[-*+]|\\d+\\.)\\s+|\\*\\*|__|~~|`+|!?\\[([^\\]]*)\\]\\([^)]*\\)")

// report is how the report of a sub-agent begins.
var report = pattern.New("^Status: (success|error|timeout|unknown)\n\nResult:\n")

// plainLine gives the first line of a text that says something, as a title of at most n characters.
func plainLine(n int, text string) string {
	if m := report.FindStringSubmatch(text); m != nil { // the report of a sub-agent: what it found is its title
		line := plainLine(n, text[len(m[0]):])
		if m[1] != "success" {
			return cut(n, m[1]+": "+line)
		}
		return line
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(marks.ReplaceAllString(strings.TrimSpace(line), "$2")); strings.Trim(line, "-=*_ ") != "" {
			return cut(n, line)
		}
	}
	return cut(n, strings.TrimSpace(text))
}

// loose are the marks of a piece of Markdown whose other half is cut off.
var loose = pattern.New("\\*\\*|~~|`+|(^|\\s)#{1,6}\\s")

// flat gives a text, or a piece of one, without its Markdown and in one line of at most n characters.
func flat(n int, md string) string {
	if len(md) > 4*maxShown {
		md = strings.ToValidUTF8(md[:4*maxShown], "")
	}
	return cut(n, strings.Join(strings.Fields(loose.ReplaceAllString(channels.Render(md, channels.PlainText), "$1")), " "))
}

func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict: %d values are no pairs", len(pairs))
	}
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return m, nil
}

// tone is the colour of a state.
func tone(state any) string {
	switch s := fmt.Sprint(state); s {
	case string(sessions.Sent), string(sessions.Done), "allow", "ok", "connected":
		return "good"
	case string(sessions.Withheld), string(sessions.Held), string(sessions.TimedOut), string(sessions.Stopped), "disconnected":
		return "warn"
	case string(sessions.Failed), string(sessions.Expired), "deny", "error", "revoked", "refused":
		return "bad"
	case string(sessions.Running), string(sessions.Sending), "working":
		return "accent"
	}
	return "off"
}

// icon is a drawing of 24 by 24, in the colour of the text around it.
func icon(name string) template.HTML {
	return template.HTML(`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d="` + icons[name] + `"/></svg>`)
}

var icons = map[string]string{
	"chat":       "M4 6.5A2.5 2.5 0 0 1 6.5 4h11A2.5 2.5 0 0 1 20 6.5v7a2.5 2.5 0 0 1-2.5 2.5H11l-4.5 4v-4A2.5 2.5 0 0 1 4 13.500z",
	"sessions":   "M12 3.500l8.500 4.500L12 12.500 3.500 8zM3.500 12l8.500 4.500 8.500-4.500M3.500 16l8.500 4.500 8.500-4.500",
	"runs":       "M6 3.500v17M6 8h7a3 3 0 0 1 3 3v2M6 14h4M13.500 10.500L16 13l2.500-2.500",
	"deliveries": "M21 3L10.500 13.500M21 3l-6.500 18-4-7.500L3 9.500z",
	"policy":     "M12 3l7.500 3v5.500c0 4.500-3.200 8-7.500 9.500-4.300-1.500-7.500-5-7.500-9.500V6zM9 12l2.200 2.200L15.500 10",
	"pairing":    "M9.500 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM3 20c0-3.500 2.900-6 6.500-6s6.500 2.500 6.500 6M18 8v6M15 11h6",
	"channels":   "M5 12.500a10 10 0 0 1 14 0M2 9a14.500 14.500 0 0 1 20 0M8.500 16a5 5 0 0 1 7 0M12 19.500v.01",
	"cron":       "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3.500 2",
	"usage":      "M4 20.500h16M6.500 17v-6M12 17V5M17.500 17V9",
	"status":     "M3 12h4l3-8 4 16 3-8h4",
	"search":     "M10.500 17.500a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20.500 20.500l-5-5",
	"menu":       "M4 7h16M4 12h16M4 17h16",
	"close":      "M6 6l12 12M18 6L6 18",
	"theme":      "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 3v18M12 7.500h8M12 12h9M12 16.500h8",
	"keys":       "M4 6h16a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V7a1 1 0 0 1 1-1zM7 10h.01M11 10h.01M15 10h.01M17.500 10h.01M8 14.500h8",
	"stop":       "M7 7h10v10H7z",
	"sign-out":   "M10 4H6a2 2 0 0 0-2 2v12a2 2 0 0 0 2 2h4M15 16.500l4.500-4.500-4.500-4.500M19.500 12H9.500",
	"send":       "M12 19V5M6 11l6-6 6 6",
	"down":       "M6 9l6 6 6-6",
	"back":       "M15 5l-7 7 7 7",
	"tool":       "M14.500 6.500a4 4 0 0 1 5-1.500l-2.500 2.500 1.500 1.500L21 6.500a4 4 0 0 1-5.500 5L8 19a2 2 0 0 1-3-3l7.500-7.500a4 4 0 0 1 2-2z",
	"settings":   "M4 7h9M17 7h3M15 7m-2 0a2 2 0 1 0 4 0 2 2 0 1 0-4 0M4 17h3M11 17h9M9 17m-2 0a2 2 0 1 0 4 0 2 2 0 1 0-4 0",
	"more":       "M5 12h.01M12 12h.01M19 12h.01",
}
