package copies

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitrun"
)

// Limits for asking git what it ignores.
const (
	askTime    = 20 * time.Second
	maxAnswer  = 64 << 20 // bytes of paths
	maxExclude = 1 << 20  // bytes of info/exclude
)

// askGit marks what git ignores, which is nothing without a repository. trouble is why git could
// not tell.
//
// Git runs on the host, and the agent can write to the copy's repository. So git gets a new one,
// with only two files of the copy's: the exclude patterns, and the index, because tracked files
// are not ignored.
func (d *Diff) askGit(ctx context.Context) (trouble string, err error) {
	if _, err := os.Lstat(filepath.Join(d.copy, ".git")); err != nil {
		return "", nil //nolint:nilerr // no repository
	}
	asked := d.askable()
	if len(asked) == 0 {
		return "", nil
	}
	dir, err := os.MkdirTemp("", "ironcurtain-ignored-")
	if err != nil {
		return "", err
	}
	defer func() { _ = dirtree.Remove(context.WithoutCancel(ctx), dir) }()
	if err := d.makeRepository(dir); err != nil {
		return "", err
	}
	limited, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	ignored, err := d.ask(limited, dir, asked, true)
	if err != nil && limited.Err() == nil { // a submodule, or a broken index
		ignored, err = d.ask(limited, dir, asked, false)
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		return err.Error(), nil
	}
	for i := range d.Changes {
		d.Changes[i].Ignored = ignored[d.Changes[i].Path]
	}
	return "", nil
}

// askable returns the paths without those behind a link, for which git would fail.
func (d *Diff) askable() (all []string) {
	links := map[string]bool{}
	for _, c := range d.Changes {
		if c.copied.kind == link {
			links[c.Path] = true
		}
	}
	for _, c := range d.Changes {
		behind := false
		parents(c.Path, func(dir string) bool { behind = links[dir]; return !behind })
		if !behind {
			all = append(all, c.Path)
		}
	}
	return all
}

// makeRepository makes an empty repository with the copy's exclude patterns and index.
func (d *Diff) makeRepository(dir string) error {
	for _, sub := range []string{"objects", "refs", "info"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600); err != nil {
		return err
	}
	all, err := openDirs(d.copy)
	if err != nil {
		return err
	}
	defer all.close()
	for name, most := range map[string]int64{"info/exclude": maxExclude, "index": maxAnswer} {
		data, found, err := all.small(".git/"+name, most)
		if found {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ask asks git which of some paths it ignores. Without the index it judges by patterns only.
func (d *Diff) ask(ctx context.Context, dir string, names []string, index bool) (map[string]bool, error) {
	args := []string{"-C", d.copy, "check-ignore", "-z", "--stdin"}
	if !index {
		args = append(args, "--no-index")
	}
	out, err := gitrun.Thorough.Output(ctx, maxAnswer, gitrun.Command{
		Args: args, Env: []string{"GIT_DIR=" + dir, "GIT_WORK_TREE=" + d.copy},
		In: strings.NewReader(strings.Join(names, "\x00") + "\x00"),
	})
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil, nil // none of them
	}
	if err != nil {
		return nil, fmt.Errorf("git cannot tell what it ignores: %w", err)
	}
	ignored := map[string]bool{}
	for name := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
		ignored[string(name)] = true
	}
	return ignored, nil
}
