package packages

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
)

// BenchmarkDocument is the answer to a request for a document of 100 KB: warm, when it was
// asked for a moment ago, and cold, when its registry has to be asked.
func BenchmarkDocument(b *testing.B) {
	for name, fresh := range map[string]bool{"warm": true, "cold": false} {
		b.Run(name, func(b *testing.B) {
			w := benchWorld(b, fresh)
			for i := range 300 {
				w.npm.Add("large", forged.NPMVersion{Version: fmt.Sprintf("1.0.%d", i), Published: old(), Manifest: map[string]any{"description": strings.Repeat("x", 50)}})
			}
			w.get("/large")
			for b.Loop() {
				if a := w.get("/large"); a.status != 200 || a.body.Len() < 90<<10 {
					b.Fatalf("%d, %d bytes", a.status, a.body.Len())
				}
			}
		})
	}
}

// BenchmarkArtifact is the release of an artifact of 20 kB from the store, its durable record
// included.
func BenchmarkArtifact(b *testing.B) {
	w := benchWorld(b, true)
	text := make([]byte, 20<<10)
	for i := range text {
		text[i] = byte(i * i >> 3)
	}
	w.npm.Add("small", forged.NPMVersion{Version: "1.0.0", Published: old(), Files: map[string]string{"data": string(text)}})
	before := processorTime(b)
	for b.Loop() {
		if a := w.get("/small/-/small-1.0.0.tgz"); a.status != 200 {
			b.Fatalf("%d %s", a.status, a.phrase)
		}
	}
	b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "cpu-us/op")
}

// processorTime is what this process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkLargeDocument is what the slowest of twenty clients waits, who ask for one large
// document at a time, and how much more memory the process has then.
func BenchmarkLargeDocument(b *testing.B) {
	for _, size := range []int{8 << 20, 40 << 20} {
		b.Run(fmt.Sprintf("%dMB", size>>20), func(b *testing.B) {
			w := benchWorld(b, true)
			for i := range 1000 {
				w.npm.Add("large", forged.NPMVersion{Version: fmt.Sprintf("1.0.%d", i), Published: old(), Manifest: map[string]any{"readme": strings.Repeat("x", size/1000)}})
			}
			w.get("/large")
			runtime.GC()
			before, slowest := residentBytes(b), time.Duration(0)
			for b.Loop() {
				var clients sync.WaitGroup
				times := make([]time.Duration, 20)
				for i := range times {
					clients.Go(func() {
						began := time.Now()
						_ = w.way.Way().Serve(b.Context(), &registry.HTTPRequest{Method: "GET", Authority: "https://npm.example:443", Path: "/large"}, discard{})
						times[i] = time.Since(began)
					})
				}
				clients.Wait()
				slowest = max(slowest, slices.Max(times))
			}
			b.ReportMetric(float64(slowest.Milliseconds()), "slowest-ms")
			b.ReportMetric(float64(residentBytes(b)-before)/(1<<20), "more-MB")
		})
	}
}

// discard is an answer that nobody reads.
type discard struct{}

func (discard) Start(int, string, []registry.Field, int64) error { return nil }
func (discard) Write(p []byte) (int, error)                      { return len(p), nil }

// residentBytes is the most memory that this process had at a time.
func residentBytes(b *testing.B) int64 {
	b.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return used.Maxrss << 10
}

// BenchmarkUnused is the memory of registries of which nobody asks anything.
func BenchmarkUnused(b *testing.B) {
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		w := benchWorld(b, true)
		w.open()
		runtime.GC()
		runtime.ReadMemStats(&after)
	}
	b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/(1<<10), "heap-kB")
}

// benchWorld is a world in which documents stay fresh, or are asked for each time.
func benchWorld(b *testing.B, fresh bool) *world {
	b.Helper()
	return newWorld(b, func(o *Options) {
		if fresh {
			o.Limits = registry.Limits{}
		}
	})
}
