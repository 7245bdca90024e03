package preview

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitrun"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// Limits of reading a repository's objects. A run of git has its own time limit. gitTime also includes
// waiting for other runs: only a few run at the same time, at most two of a session.
const (
	gitTime   = 15 * time.Second
	maxOutput = 4 << 20
)

// objects reads the objects of a repository through an empty repository of our own that borrows them.
// So git obeys our configuration, and ignores the settings, hooks, attributes, replacements and helpers
// of the repository.
type objects struct {
	dir     string
	indexes int64 // bytes of the pack indexes of the repository
}

// ownConfig is the configuration that git reads.
const ownConfig = `[core]
	repositoryFormatVersion = %d
	bare = true
%s`

// borrow makes a repository of our own. The caller must close it.
func borrow(repo *gitx.Repo) (*objects, error) {
	source := filepath.Join(repo.CommonDir, "objects")
	if strings.ContainsAny(source, "\n\r") || strings.HasPrefix(source, `"`) {
		return nil, errors.New("the path of the repository contains a line break, or starts with a quotation mark")
	}
	dir, err := os.MkdirTemp("", "ironcurtain-preview-")
	if err != nil {
		return nil, err
	}
	o := &objects{dir: dir, indexes: gitrun.Indexes(source)}
	version, extensions := 0, ""
	if strings.EqualFold(repo.Setting("extensions", "", "objectformat"), "sha256") {
		version, extensions = 1, "[extensions]\n\tobjectFormat = sha256\n"
	}
	files := map[string]string{
		"HEAD":                    "ref: refs/heads/none\n",
		"config":                  fmt.Sprintf(ownConfig, version, extensions),
		"objects/info/alternates": source + "\n",
		"refs/heads/.keep":        "",
	}
	if shallow, err := readFile(filepath.Join(repo.CommonDir, "shallow")); err == nil {
		files["shallow"] = string(shallow) // a push also stops at these commits
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, errors.Join(err, o.close())
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, errors.Join(err, o.close())
		}
	}
	return o, nil
}

func (o *objects) close() error { return os.RemoveAll(o.dir) }

// git runs a git command on the borrowed objects, with input, and returns its output.
func (o *objects) git(ctx context.Context, input string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, gitTime, errSlow)
	defer cancel()
	return gitrun.Quick.Output(ctx, maxOutput, gitrun.Command{
		Args: args, In: strings.NewReader(input), Indexes: o.indexes,
		Env: []string{"GIT_DIR=" + o.dir, "GIT_OPTIONAL_LOCKS=0"},
	})
}

// errSlow means that git did not finish in time, or other runs kept it from starting.
var errSlow = fmt.Errorf("it took longer than %v", gitTime)
