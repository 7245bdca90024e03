package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
)

// Protocol is the version of these messages. It is raised when a message changes in a way that the
// other side would not understand.
const Protocol = 1

// Protocols are the versions that the daemon serves, the newest first: at most the last two.
var Protocols = []int{Protocol}

// The kinds of frames that a client sends.
const (
	KindHello     = "hello"     // Hello
	KindView      = "view"      // View, with the terminal's two descriptors: input and output
	KindTask      = "task"      // Task, with three descriptors: standard input, output and error
	KindResized   = "resized"   // the window may have another size
	KindStopping  = "stopping"  // the client will stop as soon as KindReleased comes
	KindContinued = "continued" // the client has the terminal again
	KindLent      = "lent"      // Lent: the program has ended
	KindStop      = "stop"      // Stop, in place of KindView
	KindClients   = "clients"   // asks for the clients that show a view, in place of KindView
	KindKick      = "kick"      // Kick, in place of KindView
	KindInterrupt = "interrupt" // the person wants the task to end
	KindUpgrade   = "upgrade"   // Upgrade, in place of KindView
	KindBye       = "bye"       // the client ends
)

// The kinds of frames that the daemon sends.
const (
	KindWelcome  = "welcome"  // Welcome
	KindRefused  = "refused"  // Refused
	KindReleased = "released" // the terminal is as it was before the view
	KindLend     = "lend"     // Lend: the client has the terminal until KindLent
	KindEnd      = "end"      // End
	KindShown    = "shown"    // Shown
	KindMoved    = "moved"    // Moved: the daemon is being upgraded; connect again
)

// Hello is the first frame of a client.
type Hello struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"` // of the client's program
	Kind     string `json:"kind"`    // ForView or ForCalls
	// Rights are what the client wants to be limited to. It cannot get more later.
	Rights   Right  `json:"rights"`
	Name     string `json:"name"`               // of the client's machine, or the name that the person gave the client
	Named    bool   `json:"named,omitempty"`    // Name is from the person
	Terminal string `json:"terminal,omitempty"` // its device, such as /dev/pts/3
	Token    string `json:"token,omitempty"`    // of a client whose only right comes from an answer token
}

// What a client wants, for Hello.Kind.
const (
	ForView  = "view"  // a view, or something about views
	ForCalls = "calls" // calls of the broker's API
)

// Right says what a client may do.
type Right string

// The rights.
const (
	See     Right = "see"     // see everything, change nothing
	Answer  Right = "answer"  // see the waiting calls and decide them, but remember no approval
	Operate Right = "operate" // do everything
)

// Welcome answers a Hello.
type Welcome struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"` // of the daemon's program
	Client   string `json:"client"`  // the client's id, which is never used again
	PID      int    `json:"pid"`     // of the daemon
	// Program is the path from which the daemon was started. Build identifies the file that was
	// there then: a file that has replaced it has another one.
	Program string `json:"program,omitempty"`
	Build   string `json:"build,omitempty"`
	Engine  Engine `json:"engine,omitzero"`
}

// Engine is the container engine that the daemon uses.
type Engine struct {
	Address string `json:"address"` // "" if the daemon finds none
	Source  string `json:"source"`  // how it was found, for people
}

// Refused says why the daemon does not serve the client.
type Refused struct {
	Reason string `json:"reason"`
	Next   string `json:"hint"`
}

// Shown answers KindClients.
type Shown struct {
	Clients []Client `json:"clients"`
}

// Client is a client that shows a view.
type Client struct {
	identity.Client
	Version string    `json:"version"`
	Rights  Right     `json:"rights"`
	Cols    int       `json:"cols"`
	Rows    int       `json:"rows"`
	Session string    `json:"session"` // whose tab is in front, or ""
	Since   time.Time `json:"since"`   // when it attached
	Used    time.Time `json:"used"`    // when the person last did something in it
	Stalled bool      `json:"stalled"` // its terminal accepts no output
	Stopped bool      `json:"stopped"` // it is stopped or in the background: nothing is read from its terminal
}

// Kick asks the daemon to end the view of a client. The daemon answers with End or Refused.
type Kick struct {
	Client string `json:"client"` // the beginning of its id is enough
}

// View asks the daemon to show a view on the client's terminal.
type View struct {
	Dir string `json:"dir"` // the client's directory, to which the person's paths are relative
	// Terminal are the variables in the client's environment that TerminalVariables names.
	Terminal map[string]string `json:"terminal"`
	// Open is the tab that the view opens and shows. If it is nil and there is no tab, the view opens
	// one with the default agent.
	Open *Open `json:"open,omitempty"`
	// Here means that the person has started the program in Dir, not attached to a running one. The
	// first tab may work in the project there.
	Here bool `json:"here,omitempty"`
	// Safe asks for the safe view, which shows lists and no panes: a view has failed twice in ten
	// seconds.
	Safe bool `json:"safe,omitempty"`
	// Show is the id of the session whose tab is shown first; "" means any.
	Show string `json:"show,omitempty"`
	// Keys are the API keys of model providers in the client's environment, by provider. Tabs
	// that the view opens use them.
	Keys map[string]string `json:"keys,omitempty"`
	// Environment is the environment of this machine's shells that the view opens. If it is empty,
	// they get the daemon's.
	Environment []string `json:"environment,omitempty"`
	// Settings are the settings of the terminal's line discipline before the first view, if this
	// view follows a moved one that has left the terminal as it was. Only package outer reads them.
	Settings json.RawMessage `json:"settings,omitempty"`
}

// Follows reports whether this view follows a moved one, which has left the terminal as it was.
func (v View) Follows() bool { return len(v.Settings) > 0 }

// Task asks the daemon to open a session whose agent has no terminal, and to carry out one task, or
// the tasks that it reads from the client's standard input.
type Task struct {
	Open     Open              `json:"open"` // without Prompt and Once
	Text     string            `json:"text"` // "" if tasks are read from standard input
	JSON     bool              `json:"json,omitempty"`
	Limit    time.Duration     `json:"limit,omitempty"`  // of each task; 0 means none
	Detach   bool              `json:"detach,omitempty"` // the client ends as soon as the session is open
	Typed    bool              `json:"typed,omitempty"`  // the client says that Text was typed in a shell
	Terminal map[string]string `json:"terminal"`         // as in View
	Keys     map[string]string `json:"keys,omitempty"`   // as in View
}

// Open is what a person's command line says about a new tab. Paths are absolute. Empty members leave
// the choice to the configuration.
type Open struct {
	Agent     string `json:"agent,omitempty"`
	Prompt    string `json:"prompt,omitempty"`
	Workspace string `json:"workspace,omitempty"`
	Worktree  string `json:"worktree,omitempty"` // a broker.WorktreeChoice
	Repo      string `json:"repo,omitempty"`
	Branch    string `json:"branch,omitempty"`
	Resume    string `json:"resume,omitempty"` // the id of a stored session
	// Profile replaces parts of the configuration for the tab, unless it is nil.
	Profile *Profile `json:"profile,omitempty"`
	// Once means that a running tab with this profile is shown instead of a new one.
	Once bool `json:"once,omitempty"`
}

// Again returns what a view opens that follows the one which opened o. If o's tab has a profile and
// does not run any more, the view opens another tab with that profile.
func (o *Open) Again() *Open {
	if o == nil || o.Profile == nil {
		return nil
	}
	return &Open{Profile: o.Profile, Once: true}
}

// Profile is a broker.Profile.
type Profile struct {
	Demo       bool     `json:"demo,omitempty"`
	Policy     string   `json:"policy,omitempty"`
	Servers    string   `json:"servers,omitempty"`
	Upstreams  []string `json:"upstreams,omitempty"`
	UpstreamCA string   `json:"upstreamCa,omitempty"`
}

// Stop asks the daemon to end every session and itself. The daemon answers with End or Refused.
type Stop struct {
	Now bool `json:"now,omitempty"` // even if agents run
}

// Upgrade asks the daemon to become the program that is at its path now. The daemon answers with
// Refused, or with Moved just before it tries to become the program; if that fails, Refused follows.
type Upgrade struct {
	Wait time.Duration `json:"wait"`          // for requests under way
	Now  bool          `json:"now,omitempty"` // interrupt requests under way instead of waiting
}

// Moved ends a view that is continued by another one.
type Moved struct {
	Show    string `json:"show,omitempty"`    // the session whose tab was in front
	Follows bool   `json:"follows,omitempty"` // the terminal is left to the next view as it is
}

// TerminalVariables returns the names of the variables that say what a terminal can do and how the
// person wants it to be used.
func TerminalVariables() []string {
	return []string{"TERM", "COLORTERM", "NO_COLOR", "VTE_VERSION", "WT_SESSION", "VISUAL", "EDITOR"}
}

// Lend asks the client to run a program in its terminal, such as the person's editor.
type Lend struct {
	Argv []string `json:"argv"`
}

// Lent says how the program ended.
type Lent struct {
	Error string `json:"error,omitempty"`
}

// End says why a view or a task has ended.
type End struct {
	Op     string `json:"op,omitempty"`     // the operation that failed
	Code   int    `json:"code,omitempty"`   // the client's exit code; 0 leaves that to Failed
	Reason string `json:"reason"`           // for the person; "" if the person has ended it
	Next   string `json:"hint,omitempty"`   // what the person can do
	Failed bool   `json:"failed,omitempty"` // the client's exit code is not 0
	Again  bool   `json:"again,omitempty"`  // only the view has failed; the client attaches again
	Said   string `json:"said,omitempty"`   // lines about the end of a task, for the person
}

// Started is the JSON that a new daemon writes for the process that has started it. It is empty if
// the daemon serves clients; else it says why not.
type Started struct {
	Op     string `json:"op,omitempty"`
	Reason string `json:"reason,omitempty"`
	Next   string `json:"hint,omitempty"`
}

// Strictly decodes one JSON value, and refuses unknown members. An empty text counts as {}.
func Strictly(text []byte, into any) error {
	if len(text) == 0 {
		text = []byte("{}")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more text follows the value")
	}
	return nil
}
