package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/packs"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/treesync"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// objects returns the volume with the objects that the session's worktree borrows.
func (s *Session) objects(engine *docker.Client) (stored.Objects, error) {
	return stored.ObjectsOf(s.deps.Config.Home, engine.Endpoint().Address, s.fixed.Worktree.Objects())
}

// fillObjects copies to the engine's volume the objects that the session's worktree borrows.
func (s *Session) fillObjects(ctx context.Context, engine *docker.Client, image string) error {
	if s.fixed.Worktree == nil {
		return nil
	}
	o, err := s.objects(engine)
	if err != nil {
		return err
	}
	place := s.layout.Worktree()
	shown, err := place.Shown()
	if err != nil {
		return err
	}
	identity, err := makeObjects(ctx, engine, o)
	if err != nil {
		return err
	}
	plan := packs.Plan{
		Volume:     identity,
		Repository: s.fixed.Worktree.Common, Tips: []string{s.fixed.Worktree.Base}, More: shown, State: o.State,
		Progress: func(sent, all int64) {
			s.progress("copying the repository's history to the engine", fmt.Sprintf("%d of %d MB", sent>>20, all>>20))
		},
	}
	result, ready, err := packs.Ready(ctx, plan, s.layout.Run)
	if err == nil && !ready {
		result, err = s.fillVolume(ctx, engine, image, o, plan)
	}
	if err != nil {
		return err
	}
	if missing := result.Missing(); missing != "" {
		s.notice(false, fmt.Sprintf("the worktree lacks %s, to copy less to the engine; your repository is complete", missing))
	}
	return errors.Join(o.Use(), place.Cut(result.Cut), place.Forget(result.Absent))
}

// makeObjects creates the volume if it is missing. identity distinguishes it from an earlier volume
// with the same name.
func makeObjects(ctx context.Context, engine *docker.Client, o stored.Objects) (identity string, err error) {
	if err := engine.CreateVolume(ctx, o.Volume, o.Labels); err != nil {
		return "", err
	}
	all, err := engine.Volumes(ctx, o.Labels)
	for _, v := range all {
		if v.Name == o.Volume {
			return v.CreatedAt.UTC().Format(time.RFC3339Nano), nil
		}
	}
	if err == nil {
		err = fault.New("check the engine with 'ironcurtain-mux doctor', and try again", "the engine does not list volume %s, which it has just made", o.Volume)
	}
	return "", err
}

// fillVolume starts a container that can write to the volume, fills the volume, and removes the
// container.
func (s *Session) fillVolume(ctx context.Context, engine *docker.Client, image string, o stored.Objects, plan packs.Plan) (result packs.Result, err error) {
	spec := docker.Spec{
		Image: image, Cmd: agent.KeptCommand([]string{"/bin/false"}), User: s.inside.String(), Labels: s.lease.Labels(),
		Volumes: []docker.VolumeMount{{Name: o.Volume, Target: agent.Objects}},
	}
	handle, err := engine.StartDetached(ctx, spec)
	if err != nil {
		return result, err
	}
	stream := reach.NewStream()
	defer func() { err = errors.Join(err, removeNow(ctx, handle), stream.Close()) }()
	order := s.order(s.confinementCheck(spec, engine.Info()))
	order.Fill = func(ctx context.Context) error {
		conn, err := stream.OpenFiles(ctx)
		if err != nil {
			return err
		}
		client := treesync.NewClient(conn)
		defer client.Close()
		if result, err = packs.Into(ctx, plan, client, s.layout.Run); err != nil {
			return err
		}
		return reach.ErrFilled
	}
	if err := stream.Begin(ctx, engine, handle, order); !errors.Is(err, reach.ErrFilled) {
		return result, err
	}
	return result, nil
}
