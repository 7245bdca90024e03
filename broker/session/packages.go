package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/packages"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/toolchain"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Moving counts the package downloads of one session.
type Moving struct {
	Session stored.ID `json:"session"`
	packages.Counts
}

// openPackages configures the proxy for package registries. After an error the agent works without
// them, and the person is told.
func (s *Session) openPackages(ctx context.Context, c *mitm.Config, stack *teardown, log *audit.Log) {
	if s.deps.Config.Packages == nil {
		return
	}
	host, err := s.deps.Config.Packages(ctx)
	if err != nil {
		text := "agents cannot install packages: " + describe(err)
		if hint := fault.Hint(err); hint != "" {
			text += " (" + hint + ")"
		}
		s.notice(true, text)
		return
	}
	way := host.Session(packages.SessionOptions{
		ID: s.fixed.ID, Workspace: s.fixed.Workspace, Approvals: s.deps.Approvals, Timeout: s.deps.Config.EscalationTimeout,
		Log: log, Notice: func(text string) { s.notice(false, text) },
		Moved: func(c packages.Counts) { s.deps.Events.Moved(Moving{s.fixed.ID, c}) },
	})
	stack.push("close the way to package registries", func(context.Context) error { way.Close(); return nil })
	c.Packages, c.Registries = way.Way(), host.Hosts()
	s.mu.Lock()
	s.packages, s.registries = way, host.Container()
	s.mu.Unlock()
}

// packageTools returns the tool with which an agent asks for a version that documents hide. Agents
// that cannot use the host's tools do not get it.
func (s *Session) packageTools() []mcpproxy.Builtin {
	if s.deps.Config.Packages == nil || !s.adapter.Tools {
		return nil
	}
	const text = `{"type":"string"}`
	return []mcpproxy.Builtin{{
		Server: policy.ProxyServer, Name: "request_package",
		Description: "Ask the person for a version of a package that is hidden because it is too new or a rule holds it back. Install it afterwards as usual. The ecosystem is " +
			strings.Join(packages.Ecosystems(), ", ") + ". The justification says why no older version will do.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"ecosystem":` + text + `,"name":` + text + `,"version":` + text + `,"justification":` + text +
			`},"required":["ecosystem","name","version","justification"],"additionalProperties":false}`),
		Run: s.requestPackage,
	}}
}

// requestPackage carries out request_package: it waits until a person has decided.
func (s *Session) requestPackage(ctx context.Context, arguments json.RawMessage) (any, error) {
	var args struct{ Ecosystem, Name, Version, Justification string }
	if err := json.Unmarshal(arguments, &args); err != nil {
		return nil, fmt.Errorf("read the request for a package: %w", err)
	}
	way, err := s.wayToPackages()
	if err != nil {
		return nil, err
	}
	decision, err := way.Way().Request(ctx, args.Ecosystem, args.Name, args.Version, args.Justification)
	if err != nil {
		return nil, err
	}
	return struct {
		Approved bool   `json:"approved"`
		Outcome  string `json:"outcome"`
		Message  string `json:"message,omitempty"`
	}{decision.Approved, decision.Outcome, decision.Reason}, nil
}

// Registries returns what the agent has requested from package registries.
func (s *Session) Registries() (packages.Overview, error) {
	way, err := s.wayToPackages()
	if err != nil {
		return packages.Overview{}, err
	}
	return way.Overview(), nil
}

// ReleasePackage forgets that the person has denied a version, as Registries names it.
func (s *Session) ReleasePackage(version string) error {
	way, err := s.wayToPackages()
	if err != nil {
		return err
	}
	return way.Release(version)
}

func (s *Session) wayToPackages() (*packages.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.packages == nil {
		return nil, fault.New("\"registries\" in config.json says whether agents install packages", "this session cannot install packages")
	}
	return s.packages, nil
}

// registryMounts returns the mounts of the read-only files by which package managers find their
// registries.
func (s *Session) registryMounts() []docker.Mount {
	var all []docker.Mount
	for _, f := range s.registries.SystemFiles() {
		if f.Target != "" {
			all = append(all, docker.Mount{Source: s.layout.Orientation() + "/" + f.Path, Target: f.Target, ReadOnly: true})
		}
	}
	return all
}

// registryFiles returns all files by which package managers find their registries.
func (s *Session) registryFiles() []agent.File {
	files := s.registries.HomeFiles()
	for _, f := range s.registries.SystemFiles() {
		files = append(files, f.File)
	}
	return files
}

// ToolchainAnswers returns the person's answers about toolchains, by workspace, in the state directory
// home.
func ToolchainAnswers(home string) *toolchain.Answers {
	return toolchain.NewAnswers(filepath.Join(home, "workspaces.json"))
}

// Recipes returns the recipe of config.json, and one for each workspace with an answer in the state
// directory home.
func Recipes(configured docker.Recipe, home string) ([]docker.Recipe, error) {
	all, err := ToolchainAnswers(home).All()
	recipes := []docker.Recipe{configured}
	for _, a := range all {
		recipes = append(recipes, recipeWith(configured, a))
	}
	return recipes, err
}

// recipeWith adds to a recipe what the person has accepted for a workspace.
func recipeWith(r docker.Recipe, a toolchain.Answer) docker.Recipe {
	r.Toolchains = slices.Concat(r.Toolchains, a.Toolchains)
	if a.Base != "" {
		r.Base = a.Base
	}
	return r
}

// answersKey returns the key of the workspace among the person's answers. All worktrees of a repository
// have the same key.
func (s *Session) answersKey() string {
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
	a, err := ToolchainAnswers(s.deps.Config.Home).Of(s.answersKey())
	return recipeWith(s.deps.Config.Images.Recipe, a), err
}

// offerToolchains tells the person which toolchains the workspace needs and the agent's
// image lacks.
func (s *Session) offerToolchains() {
	needs, err := toolchain.Look(s.fixed.Workspace)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.notice(false, fmt.Sprintf("find out which toolchains this workspace needs: %s", describe(err)))
	}
	answer, err := ToolchainAnswers(s.deps.Config.Home).Of(s.answersKey())
	if err != nil {
		return // the session's start has read the answers without an error
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

// offerText says what the workspace needs and how to answer.
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
	return said + ": /yes makes an image with that and restarts this tab's agent in it, /no keeps the present image"
}

// titles returns the names of toolchains for people.
func titles(names []string) string {
	var out []string
	for _, t := range docker.Toolchains() {
		if slices.Contains(names, t.Name) {
			out = append(out, t.Title)
		}
	}
	return strings.Join(out, ", ")
}

// AnswerOffer stores the person's answer to the offer for the session's workspace. Images that are made
// from now on contain what was accepted.
func (s *Session) AnswerOffer(yes bool) error {
	s.mu.Lock()
	offer := s.offer
	s.mu.Unlock()
	if offer.Empty() {
		return fault.New("'images.tools' in config.json says what all images contain", "nothing was offered in this tab")
	}
	err := ToolchainAnswers(s.deps.Config.Home).Change(s.answersKey(), func(a toolchain.Answer) toolchain.Answer { return a.With(offer, yes) })
	return fault.Wrap("store the answer", err, "")
}
