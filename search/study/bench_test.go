package study_test

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"testing"

	"pawl/search"
	"pawl/search/study"
)

// BenchmarkEngine is what a study costs beside its trainings: breeding or drawing,
// permits, and a journal on disk, with trials that do nothing.
func BenchmarkEngine(b *testing.B) {
	for _, kind := range []search.Kind{search.PAAS, search.PS, search.MGRS} {
		b.Run(string(kind), func(b *testing.B) {
			q, work, root := quote(b, kind), &bench{}, b.TempDir()
			runs := 0
			for b.Loop() {
				folder, _, err := study.Open(filepath.Join(root, strconv.Itoa(runs)))
				if err != nil {
					b.Fatal(err)
				}
				runs++
				if _, err = study.Run(context.Background(), permit(b, q.Event, uint64(runs)), q, numbers, work.work(), study.Options{Journal: folder}); err != nil && !errors.Is(err, study.ErrNothing) {
					b.Fatal(err)
				}
				if err := folder.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(work.calls.Load()), "ms/trial")
		})
	}
}
