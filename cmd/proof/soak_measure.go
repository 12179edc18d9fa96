package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sample is what a process takes at a moment. Bytes are counted in MB.
type sample struct {
	RSS, Anon  float64 // resident memory, and what of it is no file
	Threads    float64
	Files      float64 // open descriptors
	CPU        time.Duration
	Goroutines float64
	Heap       float64 // live objects, as the last collection found them
	State      float64 // the state folder, at the end of a window only
	Stolen     float64 // part of the processors' time that other machines had while they were wanted here, at the end of a window only
}

const megabyte = 1 << 20

// measure takes a sample: from /proc what the kernel knows, from /metrics what the runtime knows.
func (w *world) measure(ctx context.Context, pid int) (s sample, err error) {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	status, err := os.ReadFile(filepath.Join(proc, "status"))
	if err != nil {
		return s, err
	}
	for line := range bytes.Lines(status) {
		f := strings.Fields(string(line))
		if len(f) < 2 {
			continue
		}
		n, _ := strconv.ParseFloat(f[1], 64)
		switch f[0] {
		case "VmRSS:":
			s.RSS = n / 1024
		case "RssAnon:":
			s.Anon = n / 1024
		case "Threads:":
			s.Threads = n
		}
	}
	files, err := os.ReadDir(filepath.Join(proc, "fd"))
	if err != nil {
		return s, err
	}
	s.Files = float64(len(files))
	stat, err := os.ReadFile(filepath.Join(proc, "stat"))
	if err != nil {
		return s, err
	}
	if f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])); len(f) > 12 { // utime and stime, in hundredths of a second
		user, _ := strconv.Atoi(f[11])
		system, _ := strconv.Atoi(f[12])
		s.CPU = time.Duration(user+system) * 10 * time.Millisecond
	}
	m, err := w.metrics(ctx)
	if err != nil {
		return s, err
	}
	s.Goroutines = m["go_goroutines"]
	// The next collection is due when the heap has grown by so many percent of what the last one has left.
	growth := m["go_gc_gogc_percent"]
	s.Heap = m["go_memstats_next_gc_bytes"] / (1 + growth/100) / megabyte
	if s.Goroutines == 0 || s.Heap == 0 || growth == 0 {
		return s, fmt.Errorf("/metrics does not say how many goroutines there are, and how large the heap: %v", m)
	}
	return s, nil
}

// metrics reads the figures without labels.
func (w *world) metrics(ctx context.Context) (map[string]float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://parley/metrics", nil)
	if err != nil {
		return nil, err
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	return readMetrics(resp.Body)
}

func readMetrics(r io.Reader) (map[string]float64, error) {
	out := map[string]float64{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), " ")
		if n, err := strconv.ParseFloat(value, 64); ok && err == nil {
			out[name] = n
		}
	}
	return out, lines.Err()
}

// folderSize is how much a folder holds, in MB. What goes away meanwhile counts nothing.
func folderSize(dir string) float64 {
	var sum int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it has gone
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return float64(sum) / megabyte
}

// middle gives the median of each figure of some samples; of what only grows it is the newest.
func middle(samples []sample) sample {
	if len(samples) == 0 {
		return sample{}
	}
	of := func(get func(sample) float64) float64 {
		var all []float64
		for _, s := range samples {
			all = append(all, get(s))
		}
		slices.Sort(all)
		return sortedQuantile(all, 0.5)
	}
	last := samples[len(samples)-1]
	return sample{
		RSS: of(func(s sample) float64 { return s.RSS }), Anon: of(func(s sample) float64 { return s.Anon }),
		Threads: of(func(s sample) float64 { return s.Threads }), Files: of(func(s sample) float64 { return s.Files }),
		Goroutines: of(func(s sample) float64 { return s.Goroutines }), Heap: of(func(s sample) float64 { return s.Heap }),
		CPU: last.CPU, State: last.State,
	}
}
