package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// stoodDownFile exists after a daemon has stood down.
func stoodDownFile(home string) string { return filepath.Join(home, "run", "stood-down") }

// standDown records that the daemon leaves its agents to the next one on purpose.
func standDown(home string, log *slog.Logger) {
	log.Info("the daemon stands down; its agents keep running")
	if err := os.WriteFile(stoodDownFile(home), nil, 0o600); err != nil {
		log.Warn("the next daemon will treat this as a crash", "error", err)
	}
}

// stoodDown reports whether the last daemon has stood down. It removes the record, so only the
// first call can return true.
func stoodDown(home string) bool { return os.Remove(stoodDownFile(home)) == nil }

// engineFile contains the container engine that --engine named to a daemon, until that daemon has
// ended all of its agents.
func engineFile(home string) string { return filepath.Join(home, "run", "engine") }

// lastEngine returns the engine that --engine names. Without --engine it returns the one named to a
// former daemon that was killed or has stood down, because its agents run there.
func lastEngine(p wiring.Paths) (string, error) {
	if p.Engine != "" {
		return p.Engine, nil
	}
	named, err := os.ReadFile(engineFile(p.Home))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(named), err
}

// noteEngine records the engine of --engine for the next daemon.
func noteEngine(p wiring.Paths) error {
	if p.Engine == "" {
		return nil
	}
	return wholefile.Write(engineFile(p.Home), []byte(p.Engine), 0o600)
}

// forgetEngine lets the next daemon find its engine by itself.
func forgetEngine(home string) { _ = os.Remove(engineFile(home)) }

// takeBackPause is how long ago the former daemon must have been killed before agents are taken back
// without asking. An agent may be the reason why the daemon crashed.
const takeBackPause = time.Minute

// takeBackLimit is how long taking agents back may take while a client waits, because an engine may
// not answer.
const takeBackLimit = 10 * time.Second

// takeBack takes back the agents that another daemon has left running, and reports whether it took
// back all of them. Otherwise a person is asked. planned says that the daemon was not killed.
func takeBack(ctx context.Context, b *broker.Broker, home string, planned bool, log *slog.Logger) bool {
	var err error
	if !planned {
		last := running.TakenBackFile(home)
		before, failed := os.Stat(last)
		err = noteTakeBack(last)
		if failed == nil && time.Since(before.ModTime()) < takeBackPause {
			log.Warn("the agents that still run are left to the person: a daemon was killed a moment ago, too", "noted", err == nil)
			return false
		}
	}
	ctx, cancel := context.WithTimeout(ctx, takeBackLimit)
	defer cancel()
	if err == nil {
		err = b.TakeBack(ctx)
	}
	if err != nil {
		log.Error("not every agent could be taken back", "error", err)
	}
	return err == nil
}

// resumeHint says how to resume the sessions that are about to end.
func resumeHint(ctx context.Context, b *broker.Broker) string {
	open, _ := b.Sessions(ctx) // it never fails
	stored, err := b.Stored(ctx)
	var kept []broker.Session
	for _, s := range open {
		onDisk := err == nil && slices.ContainsFunc(stored, func(x broker.StoredSession) bool { return x.ID == s.ID && !x.Ephemeral })
		if onDisk && !s.NoTerminal {
			kept = append(kept, s)
		}
	}
	switch len(kept) {
	case 0:
		return "ended; 'ironcurtain-mux' opens a new tab"
	case 1:
		return fmt.Sprintf("ended; 'ironcurtain-mux sessions resume %s' continues %s", broker.ShortID(kept[0].ID), text.Drawable(kept[0].Agent))
	}
	return fmt.Sprintf("ended; 'ironcurtain-mux sessions resume %s' continues %s; there, /resume continues the other %d", broker.ShortID(kept[0].ID), text.Drawable(kept[0].Agent), len(kept)-1)
}

// noteTakeBack appends the current time to a file.
func noteTakeBack(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, time.Now().UTC().Format(time.RFC3339))
	return errors.Join(err, f.Close())
}
