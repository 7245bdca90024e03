package gitrun

import (
	"os"
	"path/filepath"
	"strings"
)

// maxPacks is how many files in the directory of packs are counted at most.
const maxPacks = 10_000

// Indexes returns the size in bytes of all indexes of packs in an object store. Git maps
// them whole.
func Indexes(objects string) int64 {
	dir, err := os.Open(filepath.Join(objects, "pack"))
	if err != nil {
		return 0 // git cannot read any indexes, either
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(maxPacks) // on an error, the names so far are returned
	var sum int64
	for _, name := range names {
		if !strings.HasSuffix(name, ".idx") {
			continue
		}
		if info, err := os.Lstat(filepath.Join(dir.Name(), name)); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
	}
	return sum
}
