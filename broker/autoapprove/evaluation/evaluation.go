// Package evaluation holds the cases by which the automatic approval is measured: what a person
// said, the call that followed, and whether it may be let through without asking them.
package evaluation

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/autoapprove"
)

//go:embed cases.jsonl
var cases []byte

// Case is a case with its right answer.
type Case struct {
	ID       string
	Question autoapprove.Question
	Approve  bool   // the right answer; otherwise a person is asked
	Why      string // why that is the right answer
	// Reads says that only a model can read the text, because it is in another language
	// or in other words than the grammar knows.
	Reads bool
	// Fixed says that the call is left to the person whatever a model answers.
	Fixed bool
}

// line is a case as cases.jsonl has it. Missing members have the values of question and git.
type line struct {
	ID      string             `json:"id"`
	Typed   string             `json:"typed"` // for a text without pastes
	Said    []autoapprove.Part `json:"said"`
	Plane   string             `json:"plane"`
	Server  string             `json:"server"`
	Tool    string             `json:"tool"`
	Command string             `json:"command"` // of git
	Args    json.RawMessage    `json:"args"`
	Rule    string             `json:"rule"`
	Git     *struct {
		Addresses []string          `json:"addresses"`
		Pinned    map[string]string `json:"pinned"`
		Branch    *string           `json:"branch"`
		Typed     *string           `json:"typed"` // the branch when the text was typed, where it was another
		Upstream  string            `json:"upstream"`
		Nested    bool              `json:"nested"`
		Odd       string            `json:"odd"`
	} `json:"git"`
	Exists bool   `json:"exists"`
	Want   string `json:"want"`
	Why    string `json:"why"`
	Reads  bool   `json:"reads"`
	Fixed  bool   `json:"fixed"`
}

// remotes are those of the workspace in every case that names no others.
var remotes = map[string]string{
	"origin":   "https://github.com/me/project.git",
	"upstream": "https://github.com/them/project.git",
	"backup":   "https://backup.example/me/project.git",
	"gl":       "git@gitlab.com:me/project.git",
}

// reasons are the rules' own words.
var reasons = map[string]string{
	"git":        "git would contact another host, or be told to later",
	"filesystem": "the file lies outside the workspace",
	"fetch":      "the call would fetch a page from the web",
}

// Load reads the cases.
func Load() ([]Case, error) {
	var all []Case
	seen := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(cases))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var l line
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.DisallowUnknownFields()
		if err := d.Decode(&l); err != nil {
			return nil, fmt.Errorf("cases.jsonl:%d: %w", n, err)
		}
		if l.ID == "" || seen[l.ID] || l.Want != "approve" && l.Want != "escalate" {
			return nil, fmt.Errorf("cases.jsonl:%d: the case has no id of its own, or no answer", n)
		}
		seen[l.ID] = true
		all = append(all, Case{l.ID, l.question(), l.Want == "approve", l.Why, l.Reads, l.Fixed})
	}
	return all, lines.Err()
}

func (l line) question() autoapprove.Question {
	q := autoapprove.Question{
		Said: l.Said, Plane: l.Plane, Server: l.Server, Tool: l.Tool, Command: l.Command, Arguments: l.Args, Rule: l.Rule, Reason: reasons[l.Server],
		Exists: l.Exists,
		Place:  autoapprove.Place{Home: "/home/me", Workspace: "/home/me/project", Known: []string{"github.com", "gitlab.com"}},
	}
	if len(q.Said) == 0 {
		q.Said = []autoapprove.Part{{Text: l.Typed}}
	}
	if q.Plane == "" {
		q.Plane = "tool"
	}
	if q.Rule == "" {
		q.Rule = "escalate-" + l.Server
	}
	if l.Server == "git" {
		q.Git = l.git()
	}
	return q
}

// git is what the host would find out about the repository.
func (l line) git() *autoapprove.Git {
	g := &autoapprove.Git{Pinned: maps.Clone(remotes), Branch: "main", Typed: autoapprove.Head{Branch: "main"}, Root: true}
	var a struct{ Remote, URL string }
	_ = json.Unmarshal(l.Args, &a) // arguments that cannot be read are among the cases
	switch {
	case a.URL != "":
		g.Addresses = []string{a.URL}
	case a.Remote == "":
		g.Addresses = []string{remotes["origin"]}
	case remotes[a.Remote] != "":
		g.Addresses = []string{remotes[a.Remote]}
	default:
		g.Addresses = []string{a.Remote}
	}
	if l.Git == nil {
		return g
	}
	if l.Git.Addresses != nil {
		g.Addresses = l.Git.Addresses
	}
	if l.Git.Pinned != nil {
		g.Pinned = l.Git.Pinned
	}
	if l.Git.Branch != nil {
		g.Branch = *l.Git.Branch
	}
	if g.Typed.Branch = g.Branch; l.Git.Typed != nil {
		g.Typed.Branch = *l.Git.Typed
	}
	g.Root, g.Odd, g.Upstream = !l.Git.Nested, l.Git.Odd, l.Git.Upstream
	return g
}
