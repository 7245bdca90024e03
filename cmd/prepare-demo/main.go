// Command prepare-demo makes the image of the agent and installs the tool servers for the first tab
// of "make demo". It is small and compiles fast, so that it can work while the program itself is
// being compiled. If it fails, the program tries again and shows why.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: prepare-demo IMAGE")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := prepare(ctx, os.Args[1], os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "prepare-demo: %v; the program tries it again\n", err)
	}
}

// prepare makes the image and installs the tool servers at the same time.
func prepare(ctx context.Context, image string, out io.Writer) error {
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	state := os.Getenv("IRONCURTAIN_HOME")
	if state == "" {
		state = filepath.Join(home, ".ironcurtain")
	}
	c, err := config.Load(filepath.Join(state, "config.json"))
	if err != nil {
		return err
	}
	engine, err := docker.Choice{Config: c.Engine.Use, Insecure: c.Engine.Insecure}.Connect(ctx, os.Getenv, home)
	if err != nil {
		return err
	}
	base := docker.BaseChoice(c.Images.From)
	if c.Images.From == "auto" {
		base = docker.BaseAuto
	}
	o := docker.BuildOptions{
		CacheDir: docker.DefaultCacheDir(os.Getenv, home), Base: base,
		Recipe: docker.Recipe{Base: c.Images.Base, Toolchains: c.Images.Tools, Packages: c.Images.Packages},
	}
	if _, there, err := engine.ImageTag(ctx, image, o.Recipe); err != nil {
		return err
	} else if there && servers.Installed(o.CacheDir) {
		return nil
	}
	say := &steps{out: out, began: time.Now()}
	say.print("making the agent's image while the program is compiled; the first time this usually takes two to three minutes with two processors, most of it for Debian's packages")
	o.OnProgress = func(p docker.Progress) {
		say.note(fmt.Sprintf("[%d/%d] %s", p.Step, p.Steps, p.Title), text.ASCII(p.Detail))
	}
	done := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() { say.tick(done) })
	var failed [2]error
	var both sync.WaitGroup
	both.Go(func() { _, failed[0] = engine.EnsureImage(ctx, image, o) })
	both.Go(func() { _, failed[1] = servers.Install(ctx, o.CacheDir, nil) })
	both.Wait()
	close(done)
	work.Wait()
	if err := errors.Join(failed[:]...); err != nil {
		return err
	}
	say.print("the image and the tool servers are ready")
	return nil
}

// quiet is the time without output after which a line says that the step still runs.
const quiet = 10 * time.Second

// steps prints a line for each step, and more lines during a long step.
type steps struct {
	out   io.Writer
	began time.Time

	mu          sync.Mutex
	title, last string // the current step, and the builder's last line, sanitized
	printed     time.Time
}

func (s *steps) note(title, detail string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last = detail; s.title != title {
		s.title = title
		s.line(title)
	}
}

// tick prints a line when none was printed for a while, until done is closed.
func (s *steps) tick(done <-chan struct{}) {
	every := time.NewTicker(quiet / 10)
	defer every.Stop()
	for {
		select {
		case <-done:
			return
		case <-every.C:
		}
		s.mu.Lock()
		if time.Since(s.printed) >= quiet {
			s.line(s.title + ": " + s.last)
		}
		s.mu.Unlock()
	}
}

func (s *steps) print(said string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line(said)
}

// line prints a line with the time since the beginning. The caller holds s.mu.
func (s *steps) line(said string) {
	const most = 100 // columns; a builder's line may have any length
	if r := []rune(said); len(r) > most && s.title != "" {
		said = string(r[:most]) + "…"
	}
	fmt.Fprintf(s.out, "image: %3.0f s  %s\n", time.Since(s.began).Seconds(), said)
	s.printed = time.Now()
}
