package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/builtin"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/builtin/view"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/desk"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm/provider"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/confine"
)

// Limits of the agent's process.
const (
	agentMemory  = 512 << 20 // bytes
	agentHistory = 64 << 20  // bytes of the conversation's file
	agentOpen    = 64        // open file descriptors
)

// builtinAgent runs the built-in agent until it ends. It receives its settings and connections
// from the host, locks the process, and only then reads anything that is not the host's.
func builtinAgent() error {
	debug.SetMemoryLimit(agentMemory / 2)
	d := desk.At(3)
	var set builtin.Settings
	if err := d.Settings(&set); err != nil {
		return err
	}
	tools, file := os.NewFile(4, "tools"), os.NewFile(5, "conversation")
	if tools == nil || file == nil {
		return errors.New("the host has passed no connection to the tools, or no file for the conversation")
	}
	models, err := newModels(set, d)
	if err != nil {
		return err
	}
	resized := make(chan os.Signal, 1) // may drop signals: one pending signal is enough
	if set.Task == "" {
		signal.Notify(resized, syscall.SIGWINCH)
	}
	time.AfterFunc(time.Hour, func() {}).Stop() // makes the runtime create its poller before the lock
	_ = time.Now().Local().String()             // loads the time zone before the lock
	if err := confine.Lock(confine.Limits{
		Memory: agentMemory, File: agentHistory, Seconds: confine.Unlimited, Open: agentOpen, Handed: true,
	}); err != nil {
		return err
	}
	history, err := builtin.OpenHistory(file)
	if err != nil {
		return err
	}
	programs := builtin.NewPrograms(tools)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() {
		<-programs.Lost()
		cancel(builtin.ErrGone)
	}()
	events := make(chan builtin.Event, 64) // drops nothing: the agent waits until there is room
	agent, err := builtin.New(builtin.Options{
		Models: models.open, Model: set.Model, Runner: programs, History: history,
		Show: func(e builtin.Event) { events <- e },
	})
	if err != nil {
		return err
	}
	if set.Task != "" {
		return runTask(ctx, agent, set.Task, events, os.Stdout)
	}
	var beginning sync.WaitGroup
	defer beginning.Wait()
	defer cancel(nil)
	beginning.Go(func() {
		if err := agent.Begin(ctx); err != nil && ctx.Err() == nil {
			events <- builtin.Event{Kind: builtin.Notice, Text: err.Error()}
		}
	})
	return view.Run(ctx, view.Options{
		In: os.Stdin, Out: os.Stdout, Size: size, Resized: forward(ctx, resized), Events: events, Agent: agent, NoColor: set.NoColor,
	})
}

// size returns the size of the terminal.
func size() (cols, rows int) {
	w, err := unix.IoctlGetWinsize(0, unix.TIOCGWINSZ)
	if err != nil {
		return 80, 24
	}
	return int(w.Col), int(w.Row)
}

// forward passes signals on to the view. It may drop some: one pending value is enough.
func forward(ctx context.Context, from <-chan os.Signal) <-chan struct{} {
	to := make(chan struct{}, 1)
	go func() {
		for {
			select {
			case <-from:
			case <-ctx.Done():
				return
			}
			select {
			case to <- struct{}{}:
			default:
			}
		}
	}()
	return to
}

// runTask runs one task and prints its answer, or why there is none.
func runTask(ctx context.Context, agent *builtin.Agent, task string, events <-chan builtin.Event, out io.Writer) error {
	ended := make(chan error, 1)
	go func() { ended <- agent.Turn(ctx, task) }()
	var answer builtin.Report
	for running := true; running; {
		select {
		case e := <-events:
			answer.Take(e)
		case err := <-ended:
			running = false
			if err != nil {
				answer.Text, answer.Failure = "", err.Error()
			}
		}
	}
	for len(events) > 0 {
		answer.Take(<-events)
	}
	if answer.Failure == "" && answer.Text == "" {
		answer.Failure = "the model has answered nothing"
	}
	return json.NewEncoder(out).Encode(answer)
}

// models opens conversations with the models that the host lets the agent reach.
type models struct {
	ways map[string]builtin.Way
	http http.RoundTripper
}

// newModels makes the transport of all conversations. It connects to the session's proxy
// through the desk, and trusts only the session's certificate authority.
func newModels(set builtin.Settings, d *desk.Process) (*models, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(set.CA)) {
		return nil, errors.New("the host has passed no certificate authority")
	}
	proxy := &url.URL{Scheme: "http", Host: "proxy"}
	return &models{ways: set.Models, http: &http.Transport{
		Proxy: http.ProxyURL(proxy), DialContext: func(ctx context.Context, _, _ string) (c net.Conn, err error) { return d.Dial(ctx) },
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
		MaxIdleConns: 2, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10,
	}}, nil
}

// open opens a conversation with a model. A name without a provider is allowed if there is only
// one provider.
func (m *models) open(name string) (llm.Chat, error) {
	of, model, named := strings.Cut(name, "/")
	way, known := m.ways[of]
	if !named || !known {
		if named || len(m.ways) != 1 {
			return nil, fmt.Errorf("model %q cannot be reached: this session reaches models of %s", name, strings.Join(slices.Sorted(maps.Keys(m.ways)), ", "))
		}
		for of, way = range m.ways {
			model = name
		}
	}
	if model == "" {
		model = way.Model
	}
	return provider.NewChat(provider.Options{Provider: of, Model: model, Key: way.Key, HTTP: m.http})
}
