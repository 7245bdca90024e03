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

// Options say what the multiplexer shows and how. Only API, In and Out are required.
type Options struct {
	API broker.API // the broker
	In  *os.File   // the person's terminal, for reading
	Out *os.File   // the person's terminal, for writing
	// Rights are what the person may do in this view.
	Rights Rights
	// Client identifies this terminal in the records of decisions.
	Client broker.Client
	// Passed describes the terminal if a client has passed it to this process; nil: it is this
	// process's own.
	Passed *outer.Passed
	// Mux has the panes, which stay when Run returns; nil: Run makes panes that end with it.
	Mux *pane.Mux
	// Dir is the directory to which the person's paths are relative; empty: the current one.
	Dir string
	// Detach means that there may be sessions from before this view: the first tab is opened only if
	// there is no tab, or with Add.
	Detach bool
	// Add opens the first tab in addition to the tabs that exist.
	Add bool
	// Show is the session whose tab is shown first; empty: the first tab's.
	Show broker.SessionID
	// Arrangement is how the existing tabs are arranged; the zero value: not at all. The tab that
	// Show or Add gives the focus has it, and not Arrangement.Front.
	Arrangement Arrangement
	// Left is called with the last arrangement when the view ends, unless it has failed. Left,
	// Used, Front, Focused, Arranged and Stalled may be nil.
	Left func(Arrangement)
	// Safe shows the safe view: lists, and the calls that wait, without panes.
	Safe bool
	// Others returns how many other views there are; nil: none.
	Others func() int
	// Used is called whenever the person does something.
	Used func()
	// Front is called with the session whose tab is in front when that changes.
	Front func(broker.SessionID)
	// Focused is called when the person's terminal gets the focus (true) or loses it (false).
	Focused func(bool)
	// Arranged is called with the arrangement when it may have changed. It does not block.
	Arranged func(Arrangement)
	// Stalled is called with true when the terminal has taken no output for stalledAfter, so that
	// nobody sees what it shows, and with false when it takes output again.
	Stalled func(bool)
	// Failed is called when the view panics; the view then ends. Nil: the panic ends the process.
	Failed func(p any, stack []byte)
	// Getenv looks up a variable of the environment of the person's terminal; nil: this
	// process's.
	Getenv func(name string) string

	// Opener is passed with each request to open a tab.
	Opener broker.Opener

	// For the first tab:
	// Profile replaces the configuration. Without Add, the tab is opened only if no tab has this
	// profile; otherwise that one is shown. With the zero value, it is opened only if there is no tab.
	Profile   broker.Profile
	Agent     string // empty: the broker's default
	Workspace string // empty: a fresh sandbox
	Worktree  broker.WorktreeChoice
	Repo      string // URL of a repository to clone instead of Workspace; empty: none
	Branch    string // of that repository
	Prompt    string // sent once the agent is ready; empty: none
	// Resume is the stored session that the first tab continues, instead of a new session.
	Resume broker.SessionID

	// Here is the project in which the person has started the program. Before the first tab is
	// opened, the person is asked whether it works there. Nil: there is no project, or the person
	// has answered before.
	Here *here.Project

	// Offer reports whether a killed multiplexer left agents running. It may block. If so, the
	// person can take the agents back or end them before the first tab is opened. Nil: there are
	// none.
	Offer func(context.Context) bool

	// Seen is what the person has been told and asked of what a first start explains.
	Seen tour.Seen
	// KeepSeen stores Seen after a change; nil: nothing is explained. It may block.
	KeepSeen func(tour.Seen) error
	// KeepPrefix writes the prefix key that the person has chosen to the configuration; nil: the
	// key is not stored. It may block.
	KeepPrefix func(key string) error

	// Notices are always on the screen.
	Notices []string
	// Intro returns what to try in a session. It is shown while the tab starts, and by /help. It
	// does not block, and may be nil.
	Intro func(broker.Session) []string
	// Phrase is drawn in the title of the approval panel and nowhere else, so that a person can
	// distinguish the real panel from one that an agent has drawn.
	Phrase string

	Scrollback int    // lines kept for each tab; 0: 10,000
	Engine     string // terminal engine: "native" (also for empty) or "vt10x"
	Theme      string // "dark" (also for empty), "light", "16", "none"
	// FollowTheme chooses the theme by the background that the person's terminal reports, each time
	// it reports one, until the person chooses a theme with /theme. The terminal needs 256 colors.
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
