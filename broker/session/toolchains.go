package session

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/toolchain"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// ToolchainAnswers returns what the person said about toolchains, by workspace, in the
// state directory home.
func ToolchainAnswers(home string) *toolchain.Answers {
	return toolchain.NewAnswers(filepath.Join(home, "workspaces.json"))
}

// Recipes returns the recipe of config.json and those of the workspaces in the state
// directory home that need more.
func Recipes(configured docker.Recipe, home string) ([]docker.Recipe, error) {
	all, err := ToolchainAnswers(home).All()
	recipes := []docker.Recipe{configured}
	for _, a := range all {
		recipes = append(recipes, recipeWith(configured, a))
	}
	return recipes, err
}

// recipeWith returns a recipe with what the person wants for one workspace.
func recipeWith(r docker.Recipe, a toolchain.Answer) docker.Recipe {
	r.Toolchains = slices.Concat(r.Toolchains, a.Toolchains)
	if a.Base != "" {
		r.Base = a.Base
	}
	return r
}

// place names the workspace for the person's answers: several worktrees of a repository
// have the same name.
func (s *Session) place() string {
	switch tree := s.fixed.Worktree; {
	case tree == nil:
		return stored.RealPath(s.fixed.Place())
	case tree.Cloned:
		return tree.Repository
	default:
		return stored.RealPath(tree.Repository)
	}
}

// recipe returns what the agent's image contains.
func (s *Session) recipe() (docker.Recipe, error) {
	a, err := ToolchainAnswers(s.deps.Config.Home).Of(s.place())
	return recipeWith(s.deps.Config.Images.Recipe, a), err
}

// offerToolchains tells the person which toolchains the workspace needs and the agent's
// image lacks.
func (s *Session) offerToolchains() {
	needs, err := toolchain.Look(s.fixed.Workspace)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.notice(false, fmt.Sprintf("could not find out which toolchains this workspace needs: %s", describe(err)))
	}
	answer, err := ToolchainAnswers(s.deps.Config.Home).Of(s.place())
	if err != nil {
		return // the start of the session would have failed
	}
	configured := s.deps.Config.Images.Recipe
	offer := answer.OfferFor(needs, configured.Toolchains, configured.Base)
	if offer.Empty() {
		return
	}
	s.mu.Lock()
	s.offer = offer
	s.mu.Unlock()
	s.notice(true, offerText(offer))
}

// offerText says what is offered and how to answer.
func offerText(o toolchain.Offer) string {
	var wants []string
	if len(o.Toolchains) > 0 {
		wants = append(wants, "is built with "+titles(o.Toolchains))
	}
	if o.Base != "" {
		wants = append(wants, "names the image "+text.Drawable(o.Base)+" in its devcontainer.json")
	}
	said := "this project " + strings.Join(wants, " and ") + ", which this tab lacks"
	if n := len(o.Unknown); n > 0 {
		said += fmt.Sprintf(" (it also names %d features that are not supported, the first is %s)", n, text.Clip(text.Drawable(o.Unknown[0]), 60))
	}
	return said + ": /yes makes an image with that and starts this tab's agent again in it, /no leaves it so"
}

// titles names toolchains for people.
func titles(names []string) string {
	var out []string
	for _, t := range docker.Toolchains() {
		if slices.Contains(names, t.Name) {
			out = append(out, t.Title)
		}
	}
	return strings.Join(out, ", ")
}

// AnswerOffer keeps the person's answer to what was offered for the session's workspace.
// Images that are made from now on contain what was accepted.
func (s *Session) AnswerOffer(yes bool) error {
	s.mu.Lock()
	offer := s.offer
	s.mu.Unlock()
	if offer.Empty() {
		return fault.New("'images.tools' in config.json says what all images contain", "nothing was offered in this tab")
	}
	err := ToolchainAnswers(s.deps.Config.Home).Change(s.place(), func(a toolchain.Answer) toolchain.Answer { return a.With(offer, yes) })
	return fault.Wrap("keep the answer", err, "")
}
