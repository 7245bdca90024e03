package gitrun

import "time"

// Class is what runs of a kind may use. At most one of each class is under way.
type Class struct {
	memory int64         // of its own, in bytes
	time   time.Duration // from its turn on
	turn   chan struct{} // holds a value while one runs; nothing is lost
}

// The classes. With what they map, git takes about 300 MB at most.
var (
	// Quick is for what a person waits for in front of a call.
	Quick = &Class{memory: 40 << 20, time: 1500 * time.Millisecond, turn: make(chan struct{}, 1)}
	// Thorough is for bringing work home.
	Thorough = &Class{memory: 176 << 20, time: 2 * time.Minute, turn: make(chan struct{}, 1)}
)

// mapped is how much of files git may map at once besides its own memory: the parts of
// packs that packedGitLimit allows, a file of objects, its program. The indexes of a
// person's packs, which are mapped whole, come on top.
const mapped = 48 << 20

// settings bound what git keeps in memory, and switch off what would run programs or
// believe indexes that repeat what objects say.
var settings = []string{
	"core.bigFileThreshold=1m", "core.packedGitLimit=32m", "core.packedGitWindowSize=1m", "core.deltaBaseCacheLimit=8m",
	"core.commitGraph=false", "core.multiPackIndex=false", "core.preloadIndex=false", "index.threads=1",
	"pack.threads=1", "pack.windowMemory=16m", "pack.deltaCacheSize=8m", "pack.useBitmaps=false",
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.attributesFile=/dev/null",
	"gc.auto=0", "maintenance.auto=false", "protocol.allow=never",
}
