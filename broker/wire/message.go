package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
)

// Protocol is the version of these messages. It changes when one of them changes so that the
// other side would not understand it.
const Protocol = 1

// Protocols are the versions that the daemon serves, the newest first: the last two.
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
	KindInterrupt = "interrupt" // the person ends the task
	KindUpgrade   = "upgrade"   // Upgrade, in place of KindView
	KindBye       = "bye"       // the client ends
)

// The kinds of frames that the daemon sends.
const (
	KindWelcome  = "welcome"  // Welcome
	KindRefused  = "refused"  // Refused
	KindReleased = "released" // the terminal is as it was before the view
	KindLend     = "lend"     // Lend: the terminal is the client's until KindLent
	KindEnd      = "end"      // End
	KindShown    = "shown"    // Shown
	KindMoved    = "moved"    // Moved: the daemon is being upgraded; connect again
)

// Hello is the first frame of a client.
type Hello struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"` // of the client's program
	Kind     string `json:"kind"`    // ForView or ForCalls
	// Rights are what the client wants to be limited to. Nothing gives it more later.
	Rights   Right  `json:"rights"`
	Name     string `json:"name"`               // of the client's machine, or as the person calls the client
	Named    bool   `json:"named,omitempty"`    // the person calls it so
	Terminal string `json:"terminal,omitempty"` // its device, such as /dev/pts/3
	Token    string `json:"token,omitempty"`    // of a client that has no other right
}

// What a client wants, for Hello.Kind.
const (
	ForView  = "view"  // a view, or something about views
	ForCalls = "calls" // what follows are calls
)

// Right says what a client may do.
type Right string

// The rights.
const (
	See     Right = "see"     // look at everything
	Answer  Right = "answer"  // see what waits, and decide it for this once
	Operate Right = "operate" // everything
)

// Welcome answers a Hello.
type Welcome struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"` // of the daemon's program
	Client   string `json:"client"`  // the client's id, which no other one ever has
	PID      int    `json:"pid"`     // of the daemon
	// Program is the path of the daemon's program when it was started. Build is that of no other
	// file, not even of one that has replaced it.
	Program string `json:"program,omitempty"`
	Build   string `json:"build,omitempty"`
	Engine  Engine `json:"engine,omitzero"`
}

// Engine is the container engine that the daemon uses.
type Engine struct {
	Address string `json:"address"` // empty: it finds none
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
	Session string    `json:"session"` // whose tab is in front; empty: none is
	Since   time.Time `json:"since"`   // when it was attached
	Used    time.Time `json:"used"`    // when its person last did something there
	Stalled bool      `json:"stalled"` // its terminal takes no output
	Stopped bool      `json:"stopped"` // or in the background: nothing is read from its terminal
}

// Kick asks the daemon to end the view of a client. It answers with End or Refused.
type Kick struct {
	Client string `json:"client"` // the beginning of its id is enough
}

// View asks the daemon to show a view on the client's terminal.
type View struct {
	Dir string `json:"dir"` // the client's directory, from which the person's paths begin
	// Terminal are the variables of the client's environment that tell what its terminal can
	// do, of those that TerminalVariables names.
	Terminal map[string]string `json:"terminal"`
	// Open is the tab that the view opens and shows. Nil: the view opens a tab with the
	// default agent, if there is none.
	Open *Open `json:"open,omitempty"`
	// Here: the person has started the program in Dir, and did not attach to one that runs, so its
	// tab may work in the project there.
	Here bool `json:"here,omitempty"`
	// Safe shows lists and no panes: a view has failed twice in a moment.
	Safe bool `json:"safe,omitempty"`
	// Show is the id of the session whose tab is shown first; empty: any.
	Show string `json:"show,omitempty"`
	// Keys are the API keys of model providers in the client's environment, by provider. Tabs
	// that the view opens use them.
	Keys map[string]string `json:"keys,omitempty"`
	// Environment is that of shells of this machine that the view opens; empty: the daemon's.
	Environment []string `json:"environment,omitempty"`
	// Settings are those of the terminal's line discipline before the first view, if this one
	// follows one that has left the terminal as it was. Only package outer reads them.
	Settings json.RawMessage `json:"settings,omitempty"`
}

// Follows reports whether the terminal is as a view has left it that was moved.
func (v View) Follows() bool { return len(v.Settings) > 0 }

// Task asks the daemon to open a session whose agent has no terminal, and to carry out a task,
// or those that are read from the client's standard input.
type Task struct {
	Open     Open              `json:"open"` // Prompt and Once are left out
	Text     string            `json:"text"` // empty: tasks are read
	JSON     bool              `json:"json,omitempty"`
	Limit    time.Duration     `json:"limit,omitempty"`  // of a task; 0: none
	Detach   bool              `json:"detach,omitempty"` // the client ends as soon as the session is open
	Typed    bool              `json:"typed,omitempty"`  // the client says that Text was typed in a shell
	Terminal map[string]string `json:"terminal"`         // as in View
	Keys     map[string]string `json:"keys,omitempty"`   // as in View
}

// Open is what a person's command line says of a tab. Paths are absolute. Empty members leave
// the choice to the configuration.
type Open struct {
	Agent     string `json:"agent,omitempty"`
	Prompt    string `json:"prompt,omitempty"`
	Workspace string `json:"workspace,omitempty"`
	Worktree  string `json:"worktree,omitempty"` // a broker.WorktreeChoice
	Repo      string `json:"repo,omitempty"`
	Branch    string `json:"branch,omitempty"`
	Resume    string `json:"resume,omitempty"` // the id of a stored session
	// Profile is what the tab has in place of the configuration; nil: nothing.
	Profile *Profile `json:"profile,omitempty"`
	// Once: if a tab with this profile runs, that one is shown instead.
	Once bool `json:"once,omitempty"`
}

// Again is what a view opens that follows the one which has opened o: the tab is there, but when it is
// not, because nobody has taken it back, another one has its profile.
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

// Stop asks the daemon to end every session and itself. It answers with End or Refused.
type Stop struct {
	Now bool `json:"now,omitempty"` // also if agents run
}

// Upgrade asks the daemon to become the program that is at its path now. It answers with Refused
// or, at the point of no return, with Moved; if that fails, Refused follows.
type Upgrade struct {
	Wait time.Duration `json:"wait"`          // for what is under way
	Now  bool          `json:"now,omitempty"` // waits for nothing, and interrupts what is under way
}

// Moved ends a view that another one follows.
type Moved struct {
	Show    string `json:"show,omitempty"`    // the session whose tab was in front
	Follows bool   `json:"follows,omitempty"` // the terminal is left to the next view as it is
}

// TerminalVariables names the variables that tell what a terminal can do, and how its person
// wants it used.
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
	Op     string `json:"op,omitempty"`     // what has failed
	Code   int    `json:"code,omitempty"`   // the client's exit code; 0: as Failed says
	Reason string `json:"reason"`           // for the person; empty: the person has ended it
	Next   string `json:"hint,omitempty"`   // what the person can do
	Failed bool   `json:"failed,omitempty"` // the client's exit code is not 0
	Again  bool   `json:"again,omitempty"`  // only the view has failed; the client attaches again
	Said   string `json:"said,omitempty"`   // lines about the end of a task, for the person
}

// Started is what a new daemon writes for whoever has started it, as JSON: nothing when it
// serves clients, else why it does not.
type Started struct {
	Op     string `json:"op,omitempty"`
	Reason string `json:"reason,omitempty"`
	Next   string `json:"hint,omitempty"`
}

// Strictly reads one JSON value, and refuses what it does not know.
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
