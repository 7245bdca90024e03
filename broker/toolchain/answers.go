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
	Toolchains []string `json:"tools,omitempty"`    // that its images contain in addition to those of config.json
	Base       string   `json:"base,omitempty"`     // the image that its images are built on; "" means that of config.json
	Declined   []string `json:"declined,omitempty"` // toolchains and bases that were offered and declined
	Here       Here     `json:"here,omitempty"`     // where the first tab works when the program is started in it
}

// Answers keeps answers in a file, by workspace: a real path, or the address of a repository.
// Several programs may share the file.
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

// Of returns the answer for a workspace, which is empty if the person was not asked.
func (a *Answers) Of(workspace string) (Answer, error) {
	all, err := a.All()
	return all[workspace], err
}

// Change replaces the answer for a workspace by the result of change.
func (a *Answers) Change(workspace string, change func(Answer) Answer) error {
	lock := flock.New(a.path + ".lock")
	defer lock.Close() // unlocks
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

// Offer is what a workspace needs, its images lack and the person has not declined.
type Offer struct {
	Toolchains []string
	Base       string   // "" if the base is as needed
	Unknown    []string // features in its devcontainer.json without a toolchain
}

// Empty reports whether there is nothing to offer.
func (o Offer) Empty() bool { return len(o.Toolchains) == 0 && o.Base == "" }

// OfferFor compares needs with the person's answer and with the toolchains and the base of
// config.json.
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
