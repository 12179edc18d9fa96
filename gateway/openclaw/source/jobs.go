package source

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/gateway/openclaw/jsontree"
)

// Job is a scheduled job. Exactly one of At, Every and Cron is set.
type Job struct {
	What     string // the job in the report
	Name     string
	Agent    string // OpenClaw's id; "" = the default agent
	Message  string
	At       time.Time
	Every    time.Duration
	Cron     string // five fields
	Zone     string // IANA name
	To       JobTarget
	Model    string // as OpenClaw has it, possibly an alias
	Thinking string
	Timeout  time.Duration
	Off      bool
	Notes    []string // what is different now
}

// JobTarget is where the answer goes. The zero value is nowhere; Last is the chat that wrote last.
type JobTarget struct {
	Last                 bool
	Channel, Account, To string // as OpenClaw writes them
}

// Bounds of jobs; parley's own are the same.
const (
	minEvery      = time.Minute
	maxJobTimeout = 24 * time.Hour
	maxJobs       = 10_000
)

// jobReader collects the scheduled jobs of a folder.
type jobReader struct {
	folder Folder
	off    bool            // cron.enabled is false
	seen   map[string]bool // ids
	jobs   []Job
}

// readJobs reads the scheduled jobs: rows of the database first, then the file of older versions.
//
// source: openclaw/openclaw src/cron/types.ts, docs/automation/cron-jobs.md
func readJobs(f Folder, tree map[string]any) []Job {
	s := &jobReader{folder: f, seen: map[string]bool{}, off: jsontree.Object(tree["cron"])["enabled"] == false}
	const file, table = "state/openclaw.sqlite", "cron_jobs"
	rows, err := f.Rows(file, table, "job_json")
	if err != nil {
		f.Report.Need(file+": "+table, fmt.Sprintf("the jobs cannot be read: make them again with parley cron add: %v", err))
	}
	for _, r := range rows {
		v, err := ParseJSON5([]byte(r[0]))
		s.job(v, err, file)
	}
	names := []string{"cron/jobs.json"}
	if at, ok := f.inside(jsontree.Text(jsontree.Object(tree["cron"])["store"]), ""); ok && at != names[0] {
		names = append(names, at)
	}
	for _, name := range names {
		b, err := f.open(name)
		if err != nil {
			continue // there are none
		}
		v, err := ParseJSON5(b)
		list, isList := v.([]any)
		if !isList {
			list, isList = jsontree.Object(v)["jobs"].([]any)
		}
		if err != nil || !isList {
			f.Report.Need(name, "the jobs cannot be read: make them again with parley cron add")
			continue
		}
		for _, v := range list {
			s.job(v, nil, name)
		}
	}
	return s.jobs
}

// job reads one job.
func (s *jobReader) job(v any, err error, file string) {
	raw := jsontree.Object(v)
	id := cmp.Or(jsontree.Text(raw["id"]), jsontree.Text(raw["jobId"]))
	if id != "" && s.seen[id] || len(s.jobs) >= maxJobs {
		return
	}
	s.seen[id] = true
	payload, schedule := jsontree.Object(raw["payload"]), jsontree.Object(raw["schedule"])
	if line := jsontree.Text(raw["schedule"]); line != "" {
		schedule = map[string]any{"expr": line}
	}
	j := Job{Name: oneLine(cmp.Or(jsontree.Text(raw["name"]), jsontree.Text(raw["description"]))), Agent: jsontree.Text(raw["agentId"]), Message: cmp.Or(jsontree.Text(payload["message"]), jsontree.Text(payload["text"])), Model: jsontree.Text(payload["model"]),
		Thinking: jsontree.Text(payload["thinking"]), Off: raw["enabled"] == false}
	j.What = "job " + cmp.Or(j.Name, id, "without a name")
	if err == nil && j.Message == "" {
		err = fmt.Errorf("it has no message")
	}
	if err == nil {
		err = j.schedule(schedule)
	}
	if err != nil {
		s.folder.Report.Need(j.What, fmt.Sprintf("it cannot be carried over, make it again with parley cron add: %s: %v", file, err))
		return
	}
	if !j.At.IsZero() && j.At.Before(time.Now()) {
		s.folder.Report.Leave(j.What, "its time has passed: "+j.At.Format(time.RFC3339))
		return
	}
	if s.off && !j.Off {
		j.Off, j.Notes = true, append(j.Notes, "cron.enabled is false, so the job is switched off")
	}
	if n, ok := number(payload["timeoutSeconds"]); ok && n > 0 {
		j.Timeout = min(time.Duration(n)*time.Second, maxJobTimeout)
	}
	if !slices.Contains([]string{"", "off", "minimal", "low", "medium", "high"}, j.Thinking) {
		j.Notes, j.Thinking = append(j.Notes, "thinking "+j.Thinking+" is high now"), "high"
	}
	j.target(raw, payload)
	if jsontree.Text(raw["sessionTarget"]) == "main" || strings.EqualFold(jsontree.Text(payload["kind"]), "systemEvent") {
		j.Notes = append(j.Notes, "it runs in a session of its own, and not in the main session")
	}
	s.jobs = append(s.jobs, j)
}

// schedule reads when a job is due.
func (j *Job) schedule(v map[string]any) error {
	ms, hasAt := number(v["atMs"])
	at := jsontree.Text(v["at"])
	every, hasEvery := number(v["everyMs"])
	expr := cmp.Or(jsontree.Text(v["expr"]), jsontree.Text(v["cron"]), jsontree.Text(v["expression"]))
	switch {
	case hasAt:
		j.At = time.UnixMilli(ms).UTC()
	case at != "":
		for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly} {
			if t, err := time.Parse(layout, at); err == nil {
				j.At = t.UTC() // without an offset OpenClaw means UTC
				return nil
			}
		}
		return fmt.Errorf("%q is not a time", at)
	case hasEvery && every > 0 && every < int64(10*365*24*time.Hour/time.Millisecond):
		if j.Every = time.Duration(every) * time.Millisecond; j.Every < minEvery {
			j.Every, j.Notes = minEvery, append(j.Notes, fmt.Sprintf("it ran every %s; the shortest interval of parley is %s", time.Duration(every)*time.Millisecond, minEvery))
		} else if ms, ok := number(v["anchorMs"]); ok && ms > 0 {
			j.anchor(time.UnixMilli(ms).UTC())
		}
	case expr != "":
		fields := strings.Fields(expr)
		if len(fields) == 6 && fields[0] == "0" {
			fields = fields[1:] // seconds
		}
		if named, ok := map[string]string{"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *"}[expr]; ok {
			fields = strings.Fields(named)
		}
		if len(fields) != 5 {
			return fmt.Errorf("%q does not have five fields", expr)
		}
		fields[4] = sundays(fields[4])
		j.Cron, j.Zone = strings.Join(fields, " "), jsontree.Text(v["tz"])
		if _, err := time.LoadLocation(j.Zone); err != nil {
			return fmt.Errorf("%q is not a time zone", j.Zone)
		}
	default:
		return fmt.Errorf("it has no schedule")
	}
	return nil
}

// anchor keeps the times of day of a job that counts its interval from a moment: hours that divide a day, a day and a week are cron lines.
//
// source: openclaw/openclaw src/cron/schedule.ts (computeNextRunAtMs)
func (j *Job) anchor(from time.Time) {
	const day, week = 24 * time.Hour, 7 * 24 * time.Hour
	hours, weekday := "*", "*"
	switch {
	case from.After(time.Now().Add(j.Every)), j.Every != week && (j.Every%time.Hour != 0 || day%j.Every != 0):
		j.Notes = append(j.Notes, fmt.Sprintf("it counted its interval from %s; now it counts from the import", from.Format(time.RFC3339)))
		return
	case j.Every == week:
		hours, weekday = strconv.Itoa(from.Hour()), strconv.Itoa(int(from.Weekday()))
	case j.Every > time.Hour:
		var due []string
		for h, step := 0, int(j.Every/time.Hour); h < 24; h++ {
			if (h-from.Hour())%step == 0 {
				due = append(due, strconv.Itoa(h))
			}
		}
		hours = strings.Join(due, ",")
	}
	j.Cron, j.Zone, j.Every = fmt.Sprintf("%d %s * * %s", from.Minute(), hours, weekday), "UTC", 0
}

// sundays writes the weekday 7, which OpenClaw takes for Sunday, as 0.
func sundays(field string) string {
	days := strings.Split(field, ",")
	for i, d := range days {
		switch from, isRange := strings.CutSuffix(d, "-7"); {
		case d == "7":
			days[i] = "0"
		case d == "1-7" || d == "0-7":
			days[i] = "*"
		case isRange:
			days[i] = from + "-6,0"
		}
	}
	return strings.Join(days, ",")
}

// target reads where the answer goes. Older versions have it in the payload, and deliver there only with deliver or to.
func (j *Job) target(raw, payload map[string]any) {
	to := jsontree.Object(raw["delivery"])
	if to == nil && raw["delivery"] != nil {
		j.nowhere("its delivery")
		return
	}
	if to == nil {
		if to = payload; to["deliver"] == false {
			return
		}
		if to["deliver"] != true && to["to"] == nil {
			j.Notes = append(j.Notes, staysInSession)
			return
		}
	}
	mode, isText := to["mode"].(string)
	switch mode = strings.ToLower(strings.TrimSpace(mode)); {
	case mode == "none":
		return
	case mode == "webhook":
		j.Notes = append(j.Notes, "its answer went to a webhook; now it stays in the job's session")
		return
	case to["mode"] != nil && !isText, mode != "" && mode != "announce" && mode != "deliver":
		j.nowhere("its delivery.mode")
		return
	}
	for _, key := range []string{"channel", "provider", "accountId", "to"} {
		_, isText := to[key].(string)
		if _, isNumber := to[key].(json.Number); to[key] != nil && !isText && (key != "to" || !isNumber) {
			j.nowhere("its " + key)
			return
		}
	}
	j.To = JobTarget{Channel: strings.ToLower(cmp.Or(jsontree.Text(to["channel"]), jsontree.Text(to["provider"]))), Account: jsontree.Text(to["accountId"]), To: jsontree.Text(to["to"])}
	if n, ok := to["to"].(json.Number); ok {
		j.To.To = n.String()
	}
	if j.To.Channel == "last" {
		j.To.Channel = ""
	}
	if j.To.Channel == "" && j.To.To == "" {
		j.To = JobTarget{Last: true}
	}
}

// nowhere keeps the answer in the job's session, because parley cannot read where it went.
func (j *Job) nowhere(what string) {
	j.Notes = append(j.Notes, what+" names no chat that parley knows, so its answer stays in the job's session: choose a chat with --to")
}

// staysInSession is the note of a job that names no chat for its answer.
const staysInSession = "it names no chat, so its answer stays in the job's session; --to last sends it to the chat that wrote last"

func number(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return i, err == nil
}

// oneLine writes a text in one line of at most 64 bytes.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.ToValidUTF8(s[:min(len(s), 64)], "")
}
