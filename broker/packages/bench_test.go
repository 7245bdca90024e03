package packages

import (
	"fmt"
	"strings"
	"testing"

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
	for b.Loop() {
		if a := w.get("/small/-/small-1.0.0.tgz"); a.status != 200 {
			b.Fatalf("%d %s", a.status, a.phrase)
		}
	}
}

// benchWorld is a world in which documents stay fresh, or are asked for each time.
func benchWorld(b *testing.B, fresh bool) *world {
	return newWorld(b, func(o *Options) {
		if fresh {
			o.Limits = registry.Limits{}
		}
	})
}
