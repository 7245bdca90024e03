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
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/here"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/notify"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/outer"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/pane"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/tour"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// Options say what the multiplexer shows and how. The zero value of everything
// but API, In and Out is usable.
type Options struct {
	API broker.API // the broker
	In  *os.File   // the person's terminal, for reading
	Out *os.File   // the person's terminal, for writing
	// Rights are what the person may do there.
	Rights Rights
	// Client is whose terminal this is, for the records of what is decided here.
	Client broker.Client
	// Passed describes a terminal that a client has passed to this process; nil: it is this
	// process's own.
	Passed *outer.Passed
	// Mux has the panes, which stay when Run returns; nil: they end with it.
	Mux *pane.Mux
	// Dir is the directory from which the person's paths begin; empty: the current one.
	Dir string
	// Detach means that the sessions may be older than the view: the first tab is opened only if
	// there is none, or with Add.
	Detach bool
	// Add opens the first tab beside those that there are.
	Add bool
	// Show is the session whose tab is shown first; empty: the first one's.
	Show broker.SessionID
	// Arrangement is how the tabs are arranged that there are; the zero value: as in a first view. Show
	// and Add go before its focus.
	Arrangement Arrangement
	// Left is called when the view ends, unless it has failed, with how its tabs were arranged; nil:
	// nobody wants to know.
	Left func(Arrangement)
	// Safe shows lists and what waits, and no panes: for a view that has failed.
	Safe bool
	// Others says how many other views there are; nil: none.
	Others func() int
	// Used is called whenever the person does something, Front with the session whose tab is in front
	// when that changes, and Focused with whether the person's terminal has the focus when that does;
	// nil: nobody wants to know.
	Used    func()
	Front   func(broker.SessionID)
	Focused func(bool)
	// Arranged is called with the arrangement when it may have changed; nil: nobody wants to know. It
	// does not block.
	Arranged func(Arrangement)
	// Stalled is called with whether the terminal has taken no output for long, so that nobody sees
	// what it shows, whenever that changes; nil: nobody wants to know.
	Stalled func(bool)
	// Failed is called with a panic of the view, which then ends; nil: it ends the process.
	Failed func(p any, stack []byte)
	// Getenv looks up a variable of the environment of the person's terminal; nil: this
	// process's.
	Getenv func(name string) string

	// Opener is what every tab has that is opened here.
	Opener broker.Opener

	// For the first tab:
	// Profile is what it has in place of the configuration. Without Add, it is opened only if
	// no tab has this profile; such a tab is shown. The zero value: if there is no tab at all.
	Profile   broker.Profile
	Agent     string // empty: the broker's default
	Workspace string // empty: a fresh sandbox
	Worktree  broker.WorktreeChoice
	Repo      string // URL of a repository to clone instead of Workspace; empty: none
	Branch    string // of that repository
	Prompt    string // sent once the agent is ready; empty: none
	// Resume is the stored session that the first tab continues, instead of a
	// new one with Agent and Workspace.
	Resume broker.SessionID

	// Here is the project in which the person has started the program and for which there is no
	// answer yet: they are asked whether the first tab works there, before it is opened. Nil:
	// nobody is asked.
	Here *here.Project

	// Offer reports whether a killed multiplexer left agents running. It may block. When
	// there are some, the person can take them back or end them before the first tab is
	// opened. Nil: there are none.
	Offer func(context.Context) bool

	// Seen is what the person was told and asked before on a first start, and KeepSeen writes down what
	// was since; nil: nothing is told or asked. KeepPrefix writes the prefix key that the person has
	// chosen to the configuration; nil: it is not kept. Both may block.
	Seen       tour.Seen
	KeepSeen   func(tour.Seen) error
	KeepPrefix func(key string) error

	// Notices are always on the screen.
	Notices []string
	// Intro says what to try in a session. It is shown while the tab starts, and by /help; nil:
	// nothing is said. It does not block.
	Intro func(broker.Session) []string
	// Phrase is drawn in the title of the approval panel and nowhere else, so that a person
	// can tell a panel that an agent has drawn from the real one.
	Phrase string

	Scrollback int    // lines kept for each tab; 0: 10,000
	Engine     string // terminal engine: "native" (also for empty) or "vt10x"
	Theme      string // "dark" (also for empty), "light", "16", "none"
	// FollowTheme chooses the theme by the background that the person's terminal reports, whenever
	// it does, until the person chooses one with /theme. It is for terminals with 256 colors.
	FollowTheme bool
	CommandKey  string // opens the command line; empty: "ctrl+a"
	Prefix      string // a tmux-like prefix key, such as "ctrl+b"; empty: none
	// Keys are the keys that the person chose for actions, by the names that Reference
	// lists.
	Keys    map[string][]string
	NoMouse bool // leave the mouse to the person's terminal
	NoStrip bool // show no strip above the status line when a call waits
	// Notify says how an escalation or the end of an agent is announced:
	// "bell" (also for empty), "desktop" (the bell and a notification of the
	// person's desktop) or "none".
	Notify string
	// NotifyOn limits announcements to some of notify.Occasions; empty: all.
	NotifyOn []string
}

// defaultScrollback is how many lines a tab keeps by default.
const defaultScrollback = 10000

// announceEvery is the shortest time between two bells.
const announceEvery = time.Second

// check refuses options with unknown values or with keys that are not possible.
func (o Options) check() error {
	if _, err := input.Bind(o.choice()); err != nil {
		return err
	}
	switch o.Notify {
	case "bell", "desktop", "none":
	default:
		return fmt.Errorf("notify %q: unknown value; use bell, desktop or none", text.Drawable(o.Notify))
	}
	for _, what := range o.NotifyOn {
		if !slices.Contains(notify.Occasions(), what) {
			return fmt.Errorf("notify on %q: unknown event; use %s", text.Drawable(what), strings.Join(notify.Occasions(), ", "))
		}
	}
	_, err := view.ThemeByName(o.Theme)
	return err
}

// withDefaults replaces empty options by their defaults.
func (o Options) withDefaults() Options {
	if o.Scrollback <= 0 {
		o.Scrollback = defaultScrollback
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Notify == "" {
		o.Notify = "bell"
	}
	if o.Used == nil {
		o.Used = func() {}
	}
	if o.Front == nil {
		o.Front = func(broker.SessionID) {}
	}
	if o.Focused == nil {
		o.Focused = func(bool) {}
	}
	if o.Arranged == nil {
		o.Arranged = func(Arrangement) {}
	}
	if o.Stalled == nil {
		o.Stalled = func(bool) {}
	}
	return o
}

// choice returns the choice of keys.
func (o Options) choice() input.Choice {
	return input.Choice{CommandKey: o.CommandKey, Prefix: o.Prefix, Keys: o.Keys}
}
