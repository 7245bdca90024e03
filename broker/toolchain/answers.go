package toolchain

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/gofrs/flock"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// Answer is what the person said about a workspace.
type Answer struct {
	Toolchains []string `json:"tools,omitempty"`    // that its images contain beside those of config.json
	Base       string   `json:"base,omitempty"`     // the image that they are built on; empty: that of config.json
	Declined   []string `json:"declined,omitempty"` // toolchains and bases that were offered and not wanted
	Here       Here     `json:"here,omitempty"`     // where the first tab works when the program is started there
}

// Answers keeps answers by workspace: a real path, or the address of a repository. Several
// programs may share its file.
type Answers struct{ path string }

// NewAnswers returns the answers in the file at path. The first answer creates the file.
func NewAnswers(path string) *Answers { return &Answers{path: path} }

// All returns the answers by workspace.
func (a *Answers) All() (map[string]Answer, error) {
	all := map[string]Answer{}
	data, err := os.ReadFile(a.path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		err = d.Decode(&all)
	}
	return all, fault.Wrap("read "+a.path, err, "fix the file, or remove it to be asked again")
}

// Of returns the answer for a workspace; empty if nobody was asked.
func (a *Answers) Of(workspace string) (Answer, error) {
	all, err := a.All()
	return all[workspace], err
}

// Change replaces the answer for a workspace by what change makes of it.
func (a *Answers) Change(workspace string, change func(Answer) Answer) error {
	lock := flock.New(a.path + ".lock")
	defer lock.Close() // which unlocks
	if err := lock.Lock(); err != nil {
		return err
	}
	all, err := a.All()
	if err != nil {
		return err
	}
	all[workspace] = change(all[workspace])
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return wholefile.Write(a.path, append(data, '\n'), 0o600)
}

// Offer is what a workspace needs and its images lack. A person has not declined it.
type Offer struct {
	Toolchains []string
	Base       string   // empty: the present one
	Unknown    []string // features of its devcontainer.json that nothing stands for
}

// Empty reports whether there is nothing to offer.
func (o Offer) Empty() bool { return len(o.Toolchains) == 0 && o.Base == "" }

// OfferFor compares needs with the toolchains and the base of config.json and with the
// person's answer.
func (a Answer) OfferFor(n Needs, toolchains []string, base string) Offer {
	var o Offer
	for _, name := range n.Toolchains {
		if !slices.Contains(slices.Concat(toolchains, a.Toolchains, a.Declined), name) {
			o.Toolchains = append(o.Toolchains, name)
		}
	}
	if n.Base != "" && n.Base != base && n.Base != a.Base && !slices.Contains(a.Declined, n.Base) {
		o.Base = n.Base
	}
	if !o.Empty() {
		o.Unknown = n.Unknown
	}
	return o
}

// With returns the answer with an offer accepted or declined. A later answer to the same
// offer replaces the earlier one.
func (a Answer) With(o Offer, yes bool) Answer {
	offered := slices.Clone(o.Toolchains)
	if o.Base != "" {
		offered = append(offered, o.Base)
	}
	isOffered := func(name string) bool { return slices.Contains(offered, name) }
	a.Toolchains = slices.DeleteFunc(slices.Clone(a.Toolchains), isOffered)
	a.Declined = slices.DeleteFunc(slices.Clone(a.Declined), isOffered)
	if !yes {
		if isOffered(a.Base) {
			a.Base = ""
		}
		a.Declined = append(a.Declined, offered...)
		return a
	}
	a.Toolchains = append(a.Toolchains, o.Toolchains...)
	if o.Base != "" {
		a.Base = o.Base
	}
	return a
}
