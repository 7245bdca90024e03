package tui

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// Options say what the multiplexer shows and how. The zero value of everything
// but API, In and Out is usable.
type Options struct {
	API broker.API // what it asks everything of
	In  *os.File   // the person's terminal, for reading
	Out *os.File   // the same, for writing

	Agent     string                // of the first tab; empty: the broker's default
	Workspace string                // of the first tab; empty: a fresh sandbox
	Worktree  broker.WorktreeChoice // of the first tab
	Prompt    string                // of the first tab, sent once its agent is ready; empty: none
	// Resume is the stored session that the first tab continues, instead of a
	// new one with Agent and Workspace.
	Resume broker.SessionID

	// Offer reports whether a killed multiplexer left agents running, and may take
	// its time. Then the person takes them back or ends them before the first tab is
	// opened. Nil: there are none.
	Offer func(context.Context) bool

	// Notices are what the screen has to say all the time: "scripted model:
	// nothing here is intelligent".
	Notices []string
	// Intro is shown while the first tab starts, and by /help: what to try.
	Intro []string
	// Phrase is drawn in the title of the approval panel and nowhere else, so
	// that a panel painted by an agent is told from the real one.
	Phrase string

	Scrollback int    // lines kept for each tab; 0: 10,000
	Engine     string // terminal engine: "native" (also for empty) or "vt10x"
	Theme      string // "dark" (also for empty), "light", "16", "none"
	// FollowTheme makes the theme dark or light as the person's terminal tells that
	// its background is, until /theme chooses one.
	FollowTheme bool
	CommandKey  string // opens the command line; empty: "ctrl+a"
	Prefix      string // a tmux-like prefix key, such as "ctrl+b"; empty: none
	// Keys are other keys for what Reference lists, by its names.
	Keys    map[string][]string
	NoMouse bool // leave the mouse to the person's terminal
	// Notify says how an escalation or the end of an agent is announced:
	// "bell" (also for empty), "desktop" (the bell and a notification of the
	// person's desktop) or "none".
	Notify string
	// NotifyCommand is a program with its arguments that is run for each
	// announcement besides; empty: none. What it is told is in its environment.
	NotifyCommand []string
	// NotifyOn limits what is announced to some of Occasions; empty: all.
	NotifyOn []string
}

// defaultScrollback is how many lines a tab keeps when nothing else is said.
const defaultScrollback = 10000

// announceEvery bounds how often the bell may ring.
const announceEvery = time.Second

// check refuses options that nothing sensible can be made of.
func (o Options) check() error {
	if _, err := input.Bind(o.choice()); err != nil {
		return err
	}
	switch o.Notify {
	case "bell", "desktop", "none":
	default:
		return fmt.Errorf("notify %q: unknown way, known are bell, desktop and none", text.Drawable(o.Notify))
	}
	for _, what := range o.NotifyOn {
		if !slices.Contains(Occasions(), what) {
			return fmt.Errorf("notify on %q: unknown occasion, known are %s", text.Drawable(what), strings.Join(Occasions(), ", "))
		}
	}
	_, err := view.ThemeByName(o.Theme)
	return err
}

// withDefaults fills in what was left out.
func (o Options) withDefaults() Options {
	if o.Scrollback <= 0 {
		o.Scrollback = defaultScrollback
	}
	if o.Notify == "" {
		o.Notify = "bell"
	}
	return o
}

// choice is what is chosen of the keys.
func (o Options) choice() input.Choice {
	return input.Choice{CommandKey: o.CommandKey, Prefix: o.Prefix, Keys: o.Keys}
}
