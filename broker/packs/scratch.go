package packs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitrun"
)

// scratch is a temporary repository that borrows the person's objects.
type scratch struct {
	dir     string // of the repository and the new packs
	objects string // the person's
	indexes int64  // size of the person's pack indexes, in bytes
}

// open makes the repository. Its path depends on the state only, of which the caller holds the
// lock, so it can remove what a killed process has left.
func open(ctx context.Context, p Plan, work string) (*scratch, error) {
	sum := sha256.Sum256([]byte(p.State))
	s := &scratch{dir: filepath.Join(work, "packs-"+hex.EncodeToString(sum[:8])), objects: p.objects(), indexes: gitrun.Indexes(p.objects())}
	format := "sha1"
	if len(p.Tips[0]) == 64 {
		format = "sha256"
	}
	err := dirtree.Remove(ctx, s.dir)
	if err == nil {
		err = os.MkdirAll(s.made(), 0o700)
	}
	if err == nil {
		err = s.run(ctx, nil, nil, "init", "--quiet", "--bare", "--template=", "--object-format="+format, s.repository())
	}
	if err == nil {
		err = os.MkdirAll(filepath.Join(s.repository(), "objects/info"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(s.repository(), "objects/info/alternates"), []byte(s.objects+"\n"), 0o600)
	}
	if err != nil {
		return nil, errors.Join(err, s.remove(ctx))
	}
	return s, nil
}

func (s *scratch) repository() string { return filepath.Join(s.dir, "repository.git") }

// made is the directory of the new packs.
func (s *scratch) made() string { return filepath.Join(s.dir, "made") }

func (s *scratch) remove(ctx context.Context) error {
	return dirtree.Remove(context.WithoutCancel(ctx), s.dir)
}

// run runs git in the repository.
func (s *scratch) run(ctx context.Context, in io.Reader, out io.Writer, args ...string) error {
	err := gitrun.Packing.Run(ctx, gitrun.Command{Args: args, Env: []string{"GIT_DIR=" + s.repository()}, In: in, Out: out, Indexes: s.indexes})
	if errors.Is(err, gitrun.ErrNoGit) {
		return fault.Wrap("", err, "install git")
	}
	return err
}

// setShallow makes history end at the commits, for the next runs of git.
func (s *scratch) setShallow(commits []string) error {
	return os.WriteFile(filepath.Join(s.repository(), "shallow"), []byte(lines(commits)), 0o600)
}

// lines joins strings, each followed by a line feed.
func lines(all []string) string {
	var text strings.Builder
	for _, one := range all {
		text.WriteString(one + "\n")
	}
	return text.String()
}

// peel returns, for each given object that exists, the object it is a tag of, or itself.
func (s *scratch) peel(ctx context.Context, ids []string) (map[string]string, error) {
	var asked strings.Builder
	for _, id := range ids {
		asked.WriteString(id + "^{}\n")
	}
	peeled := make(map[string]string, len(ids))
	next := 0
	out := &reader{each: func(line []byte) error {
		if next == len(ids) {
			return errors.New("git gave too many answers")
		}
		if to, kind, _ := bytes.Cut(line, []byte(" ")); objectID.Match(to) && string(kind) != "missing" {
			peeled[ids[next]] = string(to)
		}
		next++
		return nil
	}}
	err := s.run(ctx, strings.NewReader(asked.String()), out, "cat-file", "--batch-check=%(objectname) %(objecttype)")
	if err == nil && next != len(ids) {
		err = errors.New("git gave too few answers")
	}
	return peeled, err
}

// explain adds to an error of git what to do about missing objects.
func (s *scratch) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil || fault.Hint(err) != "" {
		return err
	}
	repository := filepath.Dir(s.objects)
	if promised, _ := filepath.Glob(filepath.Join(s.objects, "pack/*.promisor")); len(promised) > 0 {
		return fault.New("fetch the rest yourself: git fetch --refetch --no-filter",
			"%s is a partial clone, and nothing is fetched for an agent: %w", repository, err)
	}
	if limit := (*gitrun.Limit)(nil); errors.As(err, &limit) {
		return fault.Wrap("", err, withoutObjects)
	}
	return fault.Wrap("", err, "check the repository: git fsck")
}

// withoutObjects is what to do when a worktree is not possible.
const withoutObjects = "open the directory without --worktree: its files are copied then"

// reader splits git's output into lines.
type reader struct {
	each func(line []byte) error // must not keep line
	rest []byte                  // of a line that is not complete yet
}

// maxLine is the longest line of git's output, in bytes.
const maxLine = 1 << 20

func (r *reader) Write(p []byte) (int, error) {
	data := p
	for {
		head, tail, whole := bytes.Cut(data, []byte("\n"))
		if r.rest = append(r.rest, head...); len(r.rest) > maxLine {
			return 0, &gitrun.Limit{What: fmt.Sprintf("git prints a line of more than %d bytes", maxLine)}
		}
		if !whole {
			return len(p), nil
		}
		if err := r.each(r.rest); err != nil {
			return 0, err
		}
		r.rest, data = r.rest[:0], tail
	}
}
