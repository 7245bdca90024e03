// Package config reads config.json: one file below the state directory, decoded strictly. A name
// that is repeated or unknown, or a value out of range, is an error that says where it is. Nothing
// is guessed, and nothing is ever read from the current directory.
package config

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

//go:embed schema.json
var schema []byte

// Schema is the JSON Schema of config.json.
func Schema() []byte { return bytes.Clone(schema) }

// Config is what a person can choose; the schema says what each member means.
type Config struct {
	Agent                    string            `json:"agent"`
	StartAgent               string            `json:"startAgent"`
	Agents                   map[string]Agent  `json:"agents,omitempty"`
	Models                   map[string]string `json:"models,omitempty"`       // by agent
	AgentAPIKeys             map[string]Key    `json:"agentApiKeys,omitempty"` // by agent
	Images                   Images            `json:"images"`
	Engine                   Engine            `json:"engine"`
	Runtime                  string            `json:"runtime,omitempty"`
	LocalShell               bool              `json:"localShell"`
	EscalationTimeoutSeconds int               `json:"escalationTimeoutSeconds"`
	AwayHours                int               `json:"awayHours"`
	DaemonIdleMinutes        int               `json:"daemonIdleMinutes"`
	ReceiptSeconds           int               `json:"receiptSeconds"`
	MaxSessions              int               `json:"maxSessions"`
	KeepSessionsDays         int               `json:"keepSessionsDays"`
	Scrollback               int               `json:"scrollback"`
	Policy                   string            `json:"policy,omitempty"`
	PolicyModel              string            `json:"policyModel"` // "provider/model"
	Protected                []string          `json:"protected,omitempty"`
	Reachable                []string          `json:"reachable,omitempty"`
	Setup                    []Setup           `json:"setup,omitempty"`
	Ports                    []Port            `json:"ports,omitempty"`
	Worktree                 bool              `json:"worktree"`
	SandboxPolicy            string            `json:"sandboxPolicy"`
	Resources                Resources         `json:"resources"`
	Budget                   Budget            `json:"budget"`
	Theme                    string            `json:"theme"`
	CommandKey               string            `json:"commandKey"`
	Prefix                   string            `json:"prefix"`
	// Keys are other keys for actions of the multiplexer, by the actions' names.
	Keys          map[string][]string `json:"keys,omitempty"`
	Strip         bool                `json:"strip"`
	Mouse         bool                `json:"mouse"`
	Notify        string              `json:"notify"`
	NotifyCommand []string            `json:"notifyCommand,omitempty"`
	NotifyOn      []string            `json:"notifyOn"`
	Terminal      Terminal            `json:"terminal"`
	GitHosts      []string            `json:"gitHosts"`
	GH            *GH                 `json:"gh,omitempty"`
	AutoApprove   AutoApprove         `json:"autoApprove"`
	Registries    Registries          `json:"registries"`

	// MCPServers are servers of the person's own, by name; package servers decodes them.
	MCPServers map[string]json.RawMessage `json:"mcpServers,omitempty"`

	// Providers are entries that extend the table of model providers; package mitm decodes them.
	Providers []json.RawMessage `json:"providers,omitempty"`
}

// Resources are limits of each container; zero means the built-in default.
type Resources struct {
	MemoryMB int     `json:"memoryMb,omitempty"`
	CPUs     float64 `json:"cpus,omitempty"`
	Pids     int     `json:"pids,omitempty"`
}

// Budget is what one session may use of its models; zero is no limit.
type Budget struct {
	CostUSD  float64 `json:"costUsd"`
	Tokens   int64   `json:"tokens"`
	Requests int64   `json:"requests"`
	Minutes  int     `json:"minutes"`
	Prices   []Price `json:"prices,omitempty"`
}

// Price is what a million tokens cost, in US dollars, of the models whose names
// contain Match.
type Price struct {
	Match      string  `json:"match"`
	In         float64 `json:"in"`
	Out        float64 `json:"out"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
}

// AutoApprove configures the approval of calls that a person has just ordered.
type AutoApprove struct {
	Enabled bool   `json:"enabled"`
	Mode    string `json:"mode"`    // "grammar" or "model"
	Confirm string `json:"confirm"` // "none" or "model"
	Model   string `json:"model"`   // "provider/model"
}

// Setup is what runs in the container before an agent in a workspace.
type Setup struct {
	Workspace string `json:"workspace"` // a directory
	Run       string `json:"run"`       // shell commands
}

// Port is a port of the containers of a workspace that is opened on this machine.
type Port struct {
	Workspace string `json:"workspace"` // a directory
	Port      int    `json:"port"`
	Host      int    `json:"host,omitempty"` // on this machine; 0: the same
}

// Terminal configures the terminal in a tab.
type Terminal struct {
	Engine string `json:"engine"`
}

// EscalationTimeout is how long a call waits for a person.
func (c Config) EscalationTimeout() time.Duration {
	return time.Duration(c.EscalationTimeoutSeconds) * time.Second
}

// Away is for how long the time of a waiting call is paused while no terminal shows the
// daemon.
func (c Config) Away() time.Duration { return time.Duration(c.AwayHours) * time.Hour }

// DaemonIdle is how long a daemon waits for a client while nothing runs; 0: for ever.
func (c Config) DaemonIdle() time.Duration {
	return time.Duration(c.DaemonIdleMinutes) * time.Minute
}

// ReceiptHold is how long what was typed in command mode may stand for consent.
func (c Config) ReceiptHold() time.Duration {
	return time.Duration(c.ReceiptSeconds) * time.Second
}

// KeepSessions is how long sessions that are not used are kept; 0 means for ever.
func (c Config) KeepSessions() time.Duration {
	return time.Duration(c.KeepSessionsDays) * 24 * time.Hour
}

// Default is the configuration without a file.
func Default() Config {
	return Config{
		Agent:                    "claude-code",
		StartAgent:               "builtin",
		Images:                   Images{Base: "debian:trixie-slim", From: "auto", Tools: []string{"build", "node", "python"}},
		Engine:                   Engine{Way: "auto", Files: "auto"},
		EscalationTimeoutSeconds: 300,
		AwayHours:                8,
		DaemonIdleMinutes:        10,
		ReceiptSeconds:           120,
		MaxSessions:              5,
		Scrollback:               10000,
		SandboxPolicy:            "enforce",
		Budget:                   Budget{CostUSD: 5},
		CommandKey:               "ctrl+a",
		Strip:                    true,
		Mouse:                    true,
		Notify:                   "bell",
		NotifyOn:                 []string{"escalation", "done", "dead"},
		Terminal:                 Terminal{Engine: "native"},
		GitHosts:                 []string{"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"},
		PolicyModel:              "anthropic/claude-sonnet-4-5",
		AutoApprove:              AutoApprove{Mode: "grammar", Confirm: "none", Model: "anthropic/claude-haiku-4-5"},
		Registries:               defaultRegistries(),
	}
}

// Error is a configuration that cannot be used.
type Error struct {
	Path  string
	Line  int    // from 1; 0 when it is not known
	Field string // as a JSON pointer; may be empty
	Err   error
	next  string // instead of the usual hint

	excerpt string
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Path)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.Field != "" {
		fmt.Fprintf(&b, ": %s", e.Field)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// Excerpt is the line of the file with a mark below the fault, for a terminal; it may be empty.
func (e *Error) Excerpt() string { return e.excerpt }

// Hint is the next thing to do.
func (e *Error) Hint() string {
	if e.next != "" {
		return e.next
	}
	return "fix that line; 'ironcurtain-mux config show --schema' prints what is allowed"
}

// Load reads the file at path. A file that does not exist is the default.
func Load(path string) (Config, error) {
	data, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Default(), nil
	}
	if err != nil {
		return Config{}, &Error{Path: path, Err: fault.WithoutPath(err), next: "make it a file that you can read, or remove it"}
	}
	return Parse(path, data)
}

// read returns the file's content. A broken link is an error and not a missing file, because the
// person who made it has limits of their own and must not run without them. read does not block on
// anything but a regular file, such as a named pipe.
func read(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if target, linkErr := os.Readlink(path); linkErr == nil {
			return nil, fmt.Errorf("is a link to %q, which does not exist", target)
		}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() { // reading a directory fails with a clear error
		return nil, errors.New("is not a regular file")
	}
	return io.ReadAll(f)
}

// Parse decodes configuration text; path is used in errors only.
func Parse(path string, data []byte) (Config, error) {
	tree, err := jsonx.Parse(data, jsonx.Limits{})
	if err != nil {
		e := &Error{Path: path, Err: err}
		var syntax *jsonx.SyntaxError
		if errors.As(err, &syntax) {
			e.Line, e.excerpt = jsonx.Line(data, syntax.Offset), excerptOf(data, syntax.Offset, 1)
		}
		return Config{}, e
	}
	field, cause := readSpans(&tree)
	if cause == nil {
		field, cause = firstCause(validate(tree.Any()))
	}
	if cause != nil {
		e := &Error{Path: path, Field: field, Err: cause, next: fault.Hint(cause)}
		e.findIn(data, "")
		return Config{}, e
	}
	c := Default()
	if err := json.Unmarshal(tree.Encode(), &c); err != nil {
		return Config{}, &Error{Path: path, Err: err}
	}
	if err := c.Engine.check(); err != nil {
		e := &Error{Path: path, Field: "/engine/files", Err: err, next: fault.Hint(err)}
		e.findIn(data, "")
		return Config{}, e
	}
	return c, nil
}

// At returns an error with the place of an unusable value in the file at path. field is the
// value's JSON pointer, and text a string in the value, or "".
func At(path, field, text string, cause error) *Error {
	e := &Error{Path: path, Field: field, Err: cause}
	if data, err := os.ReadFile(path); err == nil { // without it only the line is missing
		e.findIn(data, text)
	}
	return e
}

// findIn notes the line of the field in data, or of a text in its value, and an excerpt.
func (e *Error) findIn(data []byte, text string) {
	at, length := placeOf(data, strings.Split(strings.Trim(e.Field, "/"), "/"), text)
	e.Line = jsonx.Line(data, at)
	if length > 0 {
		e.excerpt = excerptOf(data, at, length)
	}
}

func validate(value any) error {
	compiled, err := compiledSchema()
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}

// compiledSchema is the schema of config.json. Compiling it takes longer than all other steps of
// reading a file.
var compiledSchema = sync.OnceValues(compileSchema)

func compileSchema() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	const name = "mem:///config.json" // a name without a scheme is a file of the current directory
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(name, doc); err != nil {
		return nil, err
	}
	return compiler.Compile(name)
}
