package treesync

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A Sync around a tool call, with 20,000 files: the goal is a round trip and 60 ms. Both ends run
// on this machine, so the result is the time of both.
func BenchmarkBarrier(b *testing.B) {
	p := newPair(b, b.TempDir())
	b.Cleanup(p.close)
	files := map[string]string{}
	for i := range 20_000 {
		files[fmt.Sprintf("package%d/internal%d/file%d.go", i/1000, i/50, i)] = fmt.Sprint(i)
	}
	write(b, p.container, files)
	later := func() time.Time { return time.Now().Add(time.Hour) } // no file is too young
	p.tree.digests.now, p.server.digests["workspace"].now = later, later
	p.sync()
	p.sync()

	b.Run("unchanged", func(b *testing.B) {
		defer processor(b)()
		for b.Loop() {
			if r := p.sync(); r.Fetched+r.Put != 0 {
				b.Fatalf("%+v", r)
			}
		}
	})
	b.Run("there", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			for i := range 10 {
				write(b, p.container, map[string]string{fmt.Sprintf("package%d/changed", i): fmt.Sprint(b.N, time.Now())})
			}
			b.StartTimer()
			if r := p.sync(); r.Fetched != 10 {
				b.Fatalf("%+v", r)
			}
		}
	})
	b.Run("here", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			for i := range 10 {
				write(b, p.host, map[string]string{fmt.Sprintf("package%d/changed", i): fmt.Sprint(b.N, time.Now())})
			}
			b.StartTimer()
			if r := p.sync(); r.Put != 10 {
				b.Fatalf("%+v", r)
			}
		}
	})
	b.Run("container alone", func(b *testing.B) {
		c := &serverConn{Server: p.server}
		defer processor(b)()
		for b.Loop() {
			at, err := c.open("workspace", 200_000, 256<<20)
			must(b, err)
			m, err := at.scan(b.Context())
			must(b, err)
			if len(m.all) < 20_000 {
				b.Fatalf("%d in %s", len(m.all), filepath.Base(p.container))
			}
			at.root.Close()
		}
	})
}

// processor reports the CPU time of a run, which says more on a busy machine than its duration.
func processor(b *testing.B) func() {
	b.Helper()
	used := func() time.Duration {
		var u syscall.Rusage
		must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	began := used()
	return func() {
		b.ReportMetric(float64(used()-began)/float64(b.N)/1e6, "cpu-ms/op")
	}
}
