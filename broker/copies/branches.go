package copies

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// unreadable is the result of branchesOf for a repository that it cannot read.
const unreadable = "?"

// branchesOf returns a hash of all branches, tags and stashes of the repository in a directory;
// "" if there is none. It does not run git.
func branchesOf(dir string) string {
	if info, err := os.Lstat(filepath.Join(dir, ".git")); err != nil || !info.IsDir() {
		return ""
	}
	repo, err := gitx.Open(dir, gitx.Home{})
	if err != nil {
		return unreadable
	}
	refs, err := repo.Refs("refs/")
	if err != nil {
		return unreadable
	}
	if head, err := repo.Ref("HEAD"); err == nil { // fails while there is no commit
		refs["HEAD"] = head
	}
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		fmt.Fprintf(h, "%q %s\n", name, refs[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}
