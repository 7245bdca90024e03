package autoapprove

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Part is a part of a receipt's text that was typed or pasted as a whole.
type Part struct {
	Text   string `json:"text"`
	Pasted bool   `json:"pasted,omitempty"`
}

// Place is the session's workspace and the hosts that the person knows.
type Place struct {
	Home      string   // of the person
	Workspace string   // of the session, on the host
	Known     []string // hosts where a remote may be that is ordered by a short name
}

// Head is the branch that is checked out and its upstream; empty when not known.
type Head struct{ Branch, Upstream string }

// Git is what the host found out about the repository of a git call.
type Git struct {
	Addresses []string          `json:"addresses"` // that git would contact, canonical
	Pinned    map[string]string `json:"pinned"`    // remotes of the workspace as they were before the agent began
	Branch    string            `json:"branch"`    // that is checked out when the call comes
	Upstream  string            `json:"upstream"`  // what the settings say that branch follows
	Typed     Head              `json:"typed"`     // both when the receipt was typed
	Root      bool              `json:"root"`      // the repository is the workspace itself
	Odd       string            `json:"odd"`       // why the call does more than its arguments say; usually empty
}

// Question is an escalated call with the receipt that could approve it.
type Question struct {
	Said      []Part
	Plane     string // "tool" or "http"
	Server    string
	Tool      string
	Command   string          // of git that the tool runs, such as "push"
	Arguments json.RawMessage // canonical
	Rule      string
	Reason    string // the rule's own
	Exists    bool   // the file to be written, or to be moved to, exists already
	Git       *Git   // of a call to the git server
	Place     Place
}

// Match reads the receipt and compares it with the call. It returns nil if the person has
// ordered exactly this call, and otherwise why the person has to be asked.
func Match(q Question) error {
	check, err := checkFor(q)
	if err != nil {
		return err
	}
	orders, err := read(q.Said)
	if err != nil {
		return err
	}
	why := fmt.Errorf("the receipt orders something else")
	for _, o := range orders {
		if !check.takes(o.verb) {
			continue
		}
		if why = check.compare(o, q); why == nil {
			return nil
		}
	}
	return why
}

// checkFor returns the check of the call's tool, or why the call is never approved
// automatically.
func checkFor(q Question) (*check, error) {
	switch {
	case q.Plane != "tool":
		return nil, fmt.Errorf("only tool calls can be approved automatically")
	case strings.HasPrefix(q.Rule, "structural-"):
		return nil, fmt.Errorf("calls that rule %s escalates are always left to a person", q.Rule)
	}
	check := checks[q.Server+"/"+q.Tool]
	if q.Git != nil {
		check = gitChecks[q.Command]
	}
	if check == nil {
		return nil, fmt.Errorf("%s/%s is never approved automatically", q.Server, q.Tool)
	}
	return check, nil
}

// check compares orders with the calls of one tool.
type check struct {
	verbs   []verb
	compare func(o order, q Question) error
}

func (c *check) takes(v verb) bool {
	for _, own := range c.verbs {
		if v == own {
			return true
		}
	}
	return false
}

// gitChecks are the commands of git that can be approved automatically.
var gitChecks = map[string]*check{
	"push":  {[]verb{push, deleteBranch}, comparePush},
	"fetch": {[]verb{fetch}, compareFetch},
	"pull":  {[]verb{pull}, comparePull},
	"clone": {[]verb{clone}, compareClone},
}

// checks are the other tools that can be approved automatically.
var checks = map[string]*check{
	"filesystem/read_file":                 {[]verb{readFile}, comparePaths},
	"filesystem/read_text_file":            {[]verb{readFile}, comparePaths},
	"filesystem/read_media_file":           {[]verb{readFile}, comparePaths},
	"filesystem/read_multiple_files":       {[]verb{readFile}, comparePaths},
	"filesystem/list_directory":            {[]verb{list}, comparePaths},
	"filesystem/list_directory_with_sizes": {[]verb{list}, comparePaths},
	"filesystem/directory_tree":            {[]verb{list}, compareTree},
	"filesystem/create_directory":          {[]verb{makeDirectory}, comparePaths},
	"filesystem/write_file":                {[]verb{write, overwrite}, compareWrite},
	"filesystem/edit_file":                 {[]verb{edit}, comparePaths},
	"filesystem/move_file":                 {[]verb{move}, compareMove},
	"fetch/http_fetch":                     {[]verb{web}, compareWeb},
}
