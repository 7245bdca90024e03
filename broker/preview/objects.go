package preview

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// Bounds of reading a repository's objects.
const (
	gitTime   = 1500 * time.Millisecond
	maxOutput = 4 << 20
)

// objects reads the objects of a repository through an empty repository of our
// own that borrows them. Git then obeys our configuration: neither the
// settings, hooks, attributes, replacements nor helpers of the repository that
// is looked at take part. Indexes that repeat what objects say are not believed.
type objects struct {
	dir string
	env []string
}

// ownConfig is the configuration that git sees. Objects may be as large as an
// agent likes; little of them is kept in memory.
const ownConfig = `[core]
	repositoryFormatVersion = %d
	bare = true
	hooksPath = /dev/null
	fsmonitor = false
	commitGraph = false
	multiPackIndex = false
	packedGitLimit = 64m
	packedGitWindowSize = 1m
	deltaBaseCacheLimit = 8m
	bigFileThreshold = 1m
	attributesFile = /dev/null
[gc]
	auto = 0
[maintenance]
	auto = false
[protocol]
	allow = never
%s`

// borrow makes the repository of our own. It must be closed.
func borrow(repo *gitx.Repo) (*objects, error) {
	source := filepath.Join(repo.CommonDir, "objects")
	if strings.ContainsAny(source, "\n\r") || strings.HasPrefix(source, `"`) {
		return nil, errors.New("the path of the repository cannot be written down")
	}
	dir, err := os.MkdirTemp("", "ironcurtain-preview-")
	if err != nil {
		return nil, err
	}
	o := &objects{dir: dir, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C", "GIT_DIR=" + dir,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0",
	}}
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
		files["shallow"] = string(shallow) // a push goes by it as well
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

// errLarge says that a repository has more to say than is read.
var errLarge = errors.New("the repository has too much to show")

// git runs a command of git on the borrowed objects, with input, and returns
// what it prints.
func (o *objects) git(ctx context.Context, input string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = o.dir, o.env
	cmd.Stdin = strings.NewReader(input)
	cmd.WaitDelay = time.Second
	var errs bytes.Buffer
	cmd.Stderr = &limited{w: &errs, left: 4096}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	data, readErr := io.ReadAll(io.LimitReader(out, maxOutput+1))
	if len(data) > maxOutput {
		cancel()
		_ = cmd.Wait() // it was stopped on purpose
		return nil, errLarge
	}
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("git %s took longer than %v", args[0], gitTime)
	case err != nil:
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, firstLine(errs.String()))
	}
	return data, readErr
}

// limited keeps the beginning of what is written and drops the rest.
type limited struct {
	w    io.Writer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	if _, err := l.w.Write(p[:n]); err != nil {
		return 0, err
	}
	return len(p), nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
