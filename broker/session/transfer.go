package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/transfer"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// AttachFiles copies files of the host to the agent's attachments, and returns the paths of the copies
// in the container. Without paths it copies the picture in the host's clipboard. The person names the
// files, so the policy's rules do not apply; but protected files, and paths that cannot be judged, are
// refused.
func (s *Session) AttachFiles(ctx context.Context, paths []string) ([]string, error) {
	names, err := s.attach(ctx, paths)
	s.mu.Lock()
	files := s.elsewhere
	s.mu.Unlock()
	if err == nil && files != nil {
		err = files.Attach(ctx)
	}
	if err != nil {
		return nil, fault.Wrap("attach", err, "")
	}
	for i, name := range names {
		names[i] = path.Join(agent.Attachments, name)
	}
	return names, nil
}

func (s *Session) attach(ctx context.Context, paths []string) ([]string, error) {
	instead := "name the file itself"
	if s.adapter.Place == agent.InProcess {
		instead = "tell it the path of the file; you are asked when it reads a text outside of its workspace"
	}
	if err := s.running(instead); err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		picture, err := transfer.Picture(ctx)
		if err != nil {
			return nil, err
		}
		if err := s.note(ctx, "the person attaches the picture in the clipboard"); err != nil {
			return nil, err
		}
		name, err := s.attachments.Put(ctx, time.Now().Format("picture-150405.png"), bytes.NewReader(picture))
		return []string{name}, err
	}
	var all []string
	for _, p := range paths {
		all = append(all, s.resolveHomeLinks(filepath.Clean(p)))
	}
	return s.attachments.Add(ctx, all, func(path string) error {
		v := s.judge("read_file", path, nil)
		if v.Decision == policy.Deny && (strings.HasPrefix(v.Rule, "structural-") || v.Rule == policy.RuleInvalidArguments) {
			return errors.New(v.Reason)
		}
		return s.note(ctx, "the person attaches "+path)
	})
}

// running returns an error if no agent runs in a container. instead is the hint for an agent without
// one.
func (s *Session) running(instead string) error {
	if !s.Contained() {
		return fault.New(instead, "%s has no container to copy files to or from", s.adapter.Name)
	}
	if _, engine := s.Audit(); engine == nil {
		return fault.New("try again when the session's agent runs", "the session has not started yet")
	}
	return nil
}

// resolveHomeLinks resolves the links in the path of the person's home directory, which no
// agent can have made, and no others.
func (s *Session) resolveHomeLinks(path string) string {
	home := s.deps.Config.UserHome
	if below, ok := strings.CutPrefix(path, home+"/"); ok {
		return filepath.Join(stored.RealPath(home), below)
	}
	return path
}

// judge returns the policy's verdict for a hypothetical call of the filesystem server, for a path of
// the host.
func (s *Session) judge(tool, path string, more map[string]string) policy.Verdict {
	arguments := map[string]string{"path": path}
	for name, value := range more {
		arguments[name] = value
	}
	raw, err := json.Marshal(arguments)
	_, engine := s.Audit()
	if err != nil || engine == nil {
		return policy.Verdict{Decision: policy.Deny, Rule: policy.RuleInvalidRequest, Reason: "the path cannot be judged"}
	}
	if under(path, agent.Workspace) { // the policy would map this path of the host to the workspace
		return policy.Verdict{Decision: policy.Deny, Rule: policy.RuleInvalidPath, Reason: "in the container this path is in the workspace"}
	}
	return engine.Evaluate(policy.Call{Server: "filesystem", Tool: tool, Arguments: raw})
}

// SaveRequest asks for a copy of a file of the agent's home or workspace.
type SaveRequest struct {
	Path    string `json:"path"` // in the container; relative to the workspace or else the agent's home
	To      string `json:"to"`   // on the host, absolute: a file or a directory
	Replace bool   `json:"replace"`
}

// SaveFile copies a file of the agent's home or workspace to a path of the host, and returns the path.
// It refuses a path if the policy denies the agent to write it. If the policy would escalate, the
// person's request counts as the approval.
func (s *Session) SaveFile(ctx context.Context, r SaveRequest) (string, error) {
	saved, err := s.saveFile(ctx, r)
	return saved, fault.Wrap("save", err, "")
}

func (s *Session) saveFile(ctx context.Context, r SaveRequest) (string, error) {
	if err := s.running("its files are in " + s.fixed.Workspace); err != nil {
		return "", err
	}
	if err := s.fetchFiles(ctx); err != nil {
		return "", err
	}
	file, err := s.openInContainer(r.Path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	return transfer.Save(ctx, file, r.To, r.Replace, func(path string) error {
		if v := s.judge("write_file", path, map[string]string{"content": ""}); v.Decision == policy.Deny {
			return fmt.Errorf("the policy denies writing %s: %s (rule %s)", dirtree.Short(path), v.Reason, v.Rule)
		}
		return s.note(ctx, fmt.Sprintf("the person saves %s of the container to %s", r.Path, path))
	})
}

// openInContainer opens a file by its path in the container. A relative path is looked for in the
// workspace, and then in the agent's home.
func (s *Session) openInContainer(name string) (*os.File, error) {
	places, hint := []string{name}, ""
	if below, ok := strings.CutPrefix(name, "~/"); ok {
		places = []string{path.Join(agent.Home, below)}
	} else if !path.IsAbs(name) {
		places = []string{path.Join(agent.Workspace, name), path.Join(agent.Home, name)}
		hint = "it was looked for in " + agent.Workspace + " and in the agent's home"
	}
	for _, place := range places {
		place = path.Clean(place)
		base, below, err := s.inContainer(place)
		if err != nil {
			return nil, err
		}
		file, err := dirtree.Open(base, below)
		if other, is := errors.AsType[*dirtree.NotRegularError](err); is {
			there := strings.TrimSuffix(place, below) + strings.TrimPrefix(other.Path, base)
			return nil, fault.New("let the agent make a regular file of it", "%s is %s", there, other.Is)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
	}
	return nil, fault.New(hint, "there is no %s in the container", dirtree.Short(name))
}

// inContainer maps a path in the container to a directory of the host and the path below it.
func (s *Session) inContainer(name string) (base, below string, err error) {
	switch {
	case name == agent.Home || name == agent.Workspace:
		return "", "", fault.New("name a file in it", "%s is a directory", name)
	case under(name, agent.Home):
		return s.layout.Home(), strings.TrimPrefix(name, agent.Home), nil
	case under(name, agent.Workspace):
		return s.fixed.Workspace, strings.TrimPrefix(name, agent.Workspace), nil
	}
	return "", "", fault.New("let the agent copy the file to one of them", "%s is neither in the agent's home (%s) nor in %s", dirtree.Short(name), agent.Home, agent.Workspace)
}

// under reports whether a clean path is below a directory.
func under(path, dir string) bool { return strings.HasPrefix(path, dir+"/") }
