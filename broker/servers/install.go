package servers

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

//go:embed npm/package.json
var manifest []byte

//go:embed npm/package-lock.json
var lock []byte

// minNode is the oldest major version of Node.js that the servers run on.
const minNode = 20

// scripts maps a name to the program of its package.
var scripts = map[string]string{
	"filesystem": "@modelcontextprotocol/server-filesystem/dist/index.js",
	"git":        "@cyanheads/git-mcp-server/dist/index.js",
	"everything": "@modelcontextprotocol/server-everything/dist/index.js",
	"srt":        "@anthropic-ai/sandbox-runtime/dist/cli.js",
}

// Dir is an installation.
type Dir struct {
	path    string
	node    string
	version string // of node, as node reports it
}

// Path returns the directory of the installation.
func (d Dir) Path() string { return d.path }

// Argv returns the command line of an installed program, without arguments: the server "filesystem",
// "git" or "everything", or the sandbox "srt".
func (d Dir) Argv(name string) ([]string, error) {
	script, ok := scripts[name]
	if !ok {
		return nil, fmt.Errorf("no server with the name %q is installed", name)
	}
	argv := []string{d.node, filepath.Join(d.path, "node_modules", filepath.FromSlash(script))}
	if name == "everything" {
		argv = append(argv, "stdio")
	}
	return argv, nil
}

// Version identifies the set of servers: the hash of the embedded files.
func Version() string {
	h := sha256.New()
	fmt.Fprintf(h, "%d:%d:", len(manifest), len(lock))
	h.Write(manifest)
	h.Write(lock)
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// Installed reports whether Install would have nothing to do.
func Installed(cache string) bool { return installed(filepath.Join(cache, "servers", Version())) }

// Install installs the servers below cache, unless they are there, and returns their directory. It
// calls progress with a line before it fetches them; progress may be nil. Programs that call Install
// at the same time wait for the one that installs.
func Install(ctx context.Context, cache string, progress func(string)) (Dir, error) {
	node, version, err := findNode(ctx)
	if err != nil {
		return Dir{}, err
	}
	d := Dir{path: filepath.Join(cache, "servers", Version()), node: node, version: version}
	if installed(d.path) {
		return d, nil
	}
	if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
		return Dir{}, &fault.Error{Op: "install MCP servers", Err: err, Next: "make the cache directory writable"}
	}
	guard := flock.New(d.path + ".lock")
	defer guard.Close()
	if _, err := guard.TryLockContext(ctx, 200*time.Millisecond); err != nil {
		return Dir{}, &fault.Error{Op: "install MCP servers", Err: err, Next: "find out which process has locked " + guard.Path()}
	}
	if installed(d.path) {
		return d, nil
	}
	if progress != nil {
		progress("installing the MCP servers and their sandbox with npm")
	}
	if err := fetch(ctx, d.path); err != nil {
		return Dir{}, err
	}
	return d, nil
}

// installed reports whether the directory exists. It is always complete, because fetch renames it
// into place.
func installed(path string) bool {
	info, err := os.Lstat(filepath.Join(path, "node_modules"))
	return err == nil && info.IsDir()
}

// fetch installs into a temporary directory and renames it.
func fetch(ctx context.Context, path string) error {
	const op = "install MCP servers"
	npm, err := exec.LookPath("npm")
	if err != nil {
		return &fault.Error{Op: op, Err: errors.New("npm was not found"), Next: "install npm (on Debian: apt-get install npm)"}
	}
	tmp, err := os.MkdirTemp(filepath.Dir(path), "new-")
	if err != nil {
		return &fault.Error{Op: op, Err: err, Next: "make the cache directory writable"}
	}
	defer os.RemoveAll(tmp)
	for name, data := range map[string][]byte{"package.json": manifest, "package-lock.json": lock} {
		if err := os.WriteFile(filepath.Join(tmp, name), data, 0o600); err != nil {
			return &fault.Error{Op: op, Err: err, Next: "make room on the disk"}
		}
	}
	cmd := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	cmd.Dir = tmp
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return &fault.Error{Op: op, Err: fmt.Errorf("npm ci: %w: %s", err, lastLine(out.String())), Next: "make sure that npm reaches its registry, then try again"}
	}
	if err := os.RemoveAll(path); err != nil {
		return &fault.Error{Op: op, Err: err, Next: "remove " + path}
	}
	if err := os.Rename(tmp, path); err != nil {
		return &fault.Error{Op: op, Err: err, Next: "make the cache directory writable"}
	}
	return nil
}

// findNode finds a Node.js that is new enough, and returns its path and version.
func findNode(ctx context.Context) (node, version string, err error) {
	next := fmt.Sprintf("install Node.js %d or newer (on Debian: apt-get install nodejs npm)", minNode)
	fail := func(err error) (string, string, error) {
		return "", "", &fault.Error{Op: "find Node.js", Err: err, Next: next}
	}
	if node, err = exec.LookPath("node"); err != nil {
		return fail(errors.New("node was not found"))
	}
	if node, err = filepath.Abs(node); err != nil {
		return fail(err)
	}
	file, err := os.Stat(node)
	if err != nil {
		return fail(err)
	}
	asked := nodeFile{node, file.Size(), file.ModTime()}
	if said, good := goodNodes.Load(asked); good {
		return node, said.(string), nil
	}
	cmd := exec.CommandContext(ctx, node, "--version")
	cmd.WaitDelay = 5 * time.Second // "node" may be a script of a version manager, with children
	out, err := cmd.Output()
	if err != nil {
		return fail(fmt.Errorf("%s --version: %w", node, err))
	}
	version = strings.TrimPrefix(strings.TrimSpace(string(out)), "v")
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < minNode {
		return fail(fmt.Errorf("%s has version %.20q", node, version))
	}
	goodNodes.Store(asked, version)
	return node, version, nil
}

// goodNodes caches the versions of the Node.js programs that are new enough. To ask node for its
// version takes 30 ms, and every session would wait for that.
var goodNodes sync.Map // by nodeFile

type nodeFile struct {
	path    string
	size    int64
	changed time.Time
}

// lastLine returns the last line of npm's output that is not empty.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimSpace(lines[i])
		if line != "" && !strings.Contains(line, "complete log of this run") {
			return line
		}
	}
	return "no output"
}
