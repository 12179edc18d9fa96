package backup

import "bytes"

const (
	failureMark = "\nthe backup failed: " // before the error that an archive ends with
	maxFailure  = 2000                    // bytes of that error
)

// Failure gives what the host writes behind an archive that it cannot finish: the answer has begun, and its status cannot be changed.
func Failure(err error) []byte {
	text := err.Error()
	return []byte(failureMark + text[:min(len(text), maxFailure)])
}

// Tail keeps the last bytes that are written to it. The zero value is ready.
type Tail struct{ last []byte }

func (t *Tail) Write(p []byte) (int, error) {
	const size = len(failureMark) + maxFailure
	t.last = append(t.last, p[max(0, len(p)-size):]...)
	t.last = append(t.last[:0], t.last[max(0, len(t.last)-size):]...)
	return len(p), nil
}

// Failure gives the error that the host wrote behind an archive; "" where it wrote none.
func (t *Tail) Failure() string {
	_, why, _ := bytes.Cut(t.last, []byte(failureMark))
	return string(why)
}
