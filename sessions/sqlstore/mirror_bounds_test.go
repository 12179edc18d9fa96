package sqlstore

import "testing"

// What is known of the end of a file is known for some drains only: a host that continues with many long sessions does not keep all of it.
func TestMirrorForgetsEnds(t *testing.T) {
	t.Parallel()
	const people = 12
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	talk := func(rounds, first int) {
		for i := range rounds {
			for n := range people {
				if err := life(t.Context(), s, n, first+i, "question", "answer"); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	talk(3, 0)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, Config{Dir: dir})
	talk(1, 3)
	s.FlushTranscriptFiles()
	for i := range 4 { // one person only, so that the other files are not written
		if err := life(t.Context(), s, 0, 4+i, "question", "answer"); err != nil {
			t.Fatal(err)
		}
		s.FlushTranscriptFiles()
	}
	if err := s.Close(); err != nil { // nobody writes any more
		t.Fatal(err)
	}
	if files, fresh, have := s.transcriptFiles.Remembered(); have != 0 || fresh != 0 || files != people {
		t.Errorf("%d deliveries of %d files are known, %d files are fresh", have, files, fresh)
	}
}
