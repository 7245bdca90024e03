package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/cgi" //nolint:gosec // what the rule knows of ended with Go 1.6
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitrun"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// repositories are behind the remotes of each workspace.
var repositories = []string{"hello.git", "backup.git"}

// remoteURL is how a workspace names a repository of a server that runs, or ran, on this machine.
var remoteURL = regexp.MustCompile(`http://127\.0\.0\.[12]:[0-9]+/((?:hello|backup)\.git)`)

// Remote is a git server on this machine, for the demo to push to. It serves bare repositories
// below the demo's directory, and only this machine can connect to it.
type Remote struct {
	listener net.Listener
	server   *http.Server
	served   chan error // one value: how serving ended
}

// Serve starts the server on the port it had the last time, if that is free.
func Serve(ctx context.Context, g Playground) (*Remote, error) {
	const op = "start the demo's git server"
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, fault.Wrap(op, gitrun.ErrNoGit, "install git (on Debian: apt-get install git)")
	}
	for _, name := range repositories {
		dir := filepath.Join(g.Remotes, name)
		if err := makeBare(ctx, git, dir); err != nil {
			return nil, fault.Wrap(op, err, "remove "+dir+", and start the demo again")
		}
	}
	l, err := listenAgain(ctx, filepath.Join(g.Remotes, "port"))
	if err != nil {
		return nil, fault.Wrap(op, err, "let this program listen on 127.0.0.1")
	}
	r := &Remote{listener: l, served: make(chan error, 1)}
	r.server = &http.Server{
		ReadHeaderTimeout: 5 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0),
		Handler: &cgi.Handler{
			Path: git, Args: []string{"http-backend"}, Dir: g.Remotes, Logger: log.New(io.Discard, "", 0), Stderr: io.Discard,
			Env: append(gitEnvironment(g.Remotes), "GIT_PROJECT_ROOT="+g.Remotes, "GIT_HTTP_EXPORT_ALL=1"),
		},
	}
	go func() { r.served <- r.server.Serve(l) }()
	return r, nil
}

// Host is where the server listens, "127.0.0.2:4711".
func (r *Remote) Host() string { return r.listener.Addr().String() }

func (r *Remote) url(repository string) string { return "http://" + r.Host() + "/" + repository }

// Close stops the server and what it runs.
func (r *Remote) Close() error {
	err := r.server.Close()
	if ended := <-r.served; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

// listenAgain listens on the port that it used last, or on a free one, and stores which. It prefers
// 127.0.0.2, where the system has it, because programs behind a proxy do not take that for their
// own machine.
func listenAgain(ctx context.Context, note string) (net.Listener, error) {
	port := 0
	if text, err := os.ReadFile(note); err == nil {
		port, _ = strconv.Atoi(strings.TrimSpace(string(text))) // 0 means any
	}
	var l net.Listener
	var err error
	for _, address := range []string{"127.0.0.2:" + strconv.Itoa(port), "127.0.0.2:0", "127.0.0.1:0"} {
		if l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", address); err == nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	_, now, err := net.SplitHostPort(l.Addr().String())
	if err == nil {
		err = fault.Wrap("", wholefile.Write(note, []byte(now+"\n"), 0o600), writable(filepath.Dir(note)))
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Tell replaces the address of an earlier server in a workspace's git configuration by this one's.
// An agent may have written there and may still run: git is not run, no file outside of the
// workspace is touched, and only a regular file is changed.
func (r *Remote) Tell(workspace string) error {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := root.OpenFile(filepath.Join(".git", "config"), os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil // the agent has removed it
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return nil // the agent has replaced it
	}
	old, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil {
		return err
	}
	now := remoteURL.ReplaceAll(old, []byte(r.url("$1")))
	if string(now) == string(old) {
		return nil
	}
	if _, err := f.WriteAt(now, 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(now)))
}

// makeBare makes a bare repository that can be pushed to, unless it is there.
func makeBare(ctx context.Context, git, dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", "--initial-branch=main", dir},
		{"-C", dir, "config", "http.receivepack", "true"},
	} {
		cmd := exec.CommandContext(ctx, git, args...)
		cmd.Env = gitEnvironment(filepath.Dir(dir))
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}

// gitEnvironment lets git see no configuration but the repository's.
func gitEnvironment(home string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull}
}
