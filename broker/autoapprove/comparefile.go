package autoapprove

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/urlx"
)

// expand turns a path of an order into a path of the host. It does not resolve links, so a
// path with a link differs from the canonical one, and a person is asked.
func expand(p string, place Place) string {
	if rest, ok := strings.CutPrefix(p, "~/"); ok {
		p = place.Home + "/" + rest
	}
	return path.Clean(p)
}

// fileArguments are the paths among the arguments of the filesystem tools.
type fileArguments struct {
	Path        string   `json:"path"`
	Paths       []string `json:"paths"`
	Source      string   `json:"source"`
	Destination string   `json:"destination"`
}

// filesOf reads the paths of a call and ignores its other arguments.
func filesOf(raw json.RawMessage) (fileArguments, error) {
	var a fileArguments
	if err := json.Unmarshal(raw, &a); err != nil {
		return a, fmt.Errorf("the call has arguments that are not understood")
	}
	return a, nil
}

// comparePaths requires that the order names every path of the call.
func comparePaths(o order, q Question) error {
	a, err := filesOf(q.Arguments)
	if err != nil {
		return err
	}
	all := a.Paths
	if a.Path != "" {
		all = append(all, a.Path)
	}
	var said []string
	for _, p := range o.paths {
		said = append(said, expand(p, q.Place))
	}
	for _, p := range all {
		if !slices.Contains(said, p) {
			return fmt.Errorf("the call is about another file or directory than the one named")
		}
	}
	if len(all) == 0 {
		return fmt.Errorf("the call names no file")
	}
	return nil
}

// compareTree requires that the order means everything below the directory.
func compareTree(o order, q Question) error {
	if !o.flags.deep {
		return fmt.Errorf("a whole tree would be listed, and one directory was named")
	}
	return comparePaths(o, q)
}

// compareWrite requires the word "overwrite" when the call would replace an existing file.
func compareWrite(o order, q Question) error {
	if q.Exists && o.verb != overwrite {
		return fmt.Errorf("the file exists, and overwriting it was not ordered")
	}
	return comparePaths(o, q)
}

// compareMove compares both ends.
func compareMove(o order, q Question) error {
	a, err := filesOf(q.Arguments)
	if err != nil {
		return err
	}
	if len(o.paths) != 2 || expand(o.paths[0], q.Place) != a.Source || expand(o.paths[1], q.Place) != a.Destination {
		return fmt.Errorf("the call moves another file than the one named, or to another path")
	}
	return nil
}

// compareWeb requires exactly the same address, and a call that sends nothing else.
func compareWeb(o order, q Question) error {
	var a struct {
		URL     string          `json:"url"`
		Headers json.RawMessage `json:"headers"`
	}
	if err := json.Unmarshal(q.Arguments, &a); err != nil {
		return fmt.Errorf("the call has arguments that are not understood")
	}
	said, err := urlx.Parse(o.url)
	if err != nil || said.String() != a.URL {
		return fmt.Errorf("another address would be fetched than the one named")
	}
	if h := strings.TrimSpace(string(a.Headers)); h != "" && h != "null" && h != "{}" {
		return fmt.Errorf("the call also sends headers")
	}
	return nil
}
