package gitrun

import "time"

// Class bounds what a run of git may use. At most a few runs of each class are active at the
// same time, usually one.
type Class struct {
	memory int64         // private memory of git, in bytes
	file   int64         // the largest file that git may write, in bytes; 0: no limit, but git starts no other programs
	time   time.Duration // of a run, without the wait for its turn
	turn   chan struct{} // a semaphore: has a value for each active run
}

// The classes. With the files that it maps, git uses about 300 MB at most, and 900 MB for
// packing.
var (
	// Quick is for previews that a person waits for before deciding about a call.
	Quick = &Class{memory: 40 << 20, time: 1500 * time.Millisecond, turn: make(chan struct{}, 1)}
	// Thorough is for bringing back the work of an agent.
	Thorough = &Class{memory: 176 << 20, time: 2 * time.Minute, turn: make(chan struct{}, 1)}
	// Packing is for sending a repository of the person's to another machine. Git keeps a few
	// hundred bytes in memory for each object, and there may be millions.
	Packing = &Class{memory: 768 << 20, time: 10 * time.Minute, turn: make(chan struct{}, 1)}
)

// Distant makes a class for fetching a repository that a person has named from another machine, as one
// file of bounded size. Git starts other programs for that; they end with git.
func Distant(file int64, limit time.Duration, runs int) *Class {
	return &Class{memory: 1 << 30, file: file, time: limit, turn: make(chan struct{}, runs)}
}

// mapped is how many bytes of files git may map besides its own memory: the parts of packs
// that packedGitLimit allows, one object file, its program. The indexes of packs, which git
// maps whole, are added to that.
const mapped = 48 << 20

// settings bound the memory of git, and turn off features that run programs or trust files
// that duplicate the contents of objects.
var settings = []string{
	"core.bigFileThreshold=1m", "core.packedGitLimit=32m", "core.packedGitWindowSize=1m", "core.deltaBaseCacheLimit=8m",
	"core.commitGraph=false", "core.multiPackIndex=false", "core.preloadIndex=false", "index.threads=1",
	"pack.threads=1", "pack.windowMemory=16m", "pack.deltaCacheSize=8m", "pack.useBitmaps=false",
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.attributesFile=/dev/null",
	"gc.auto=0", "maintenance.auto=false", "protocol.allow=never",
}
