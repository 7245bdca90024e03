package policies

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/egress"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm/helper"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/compile"
)

// modelFlags say which model is asked about a policy.
type modelFlags struct {
	model    string
	upstream []string
}

func (f *modelFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.model, "model", "", "the model to ask, as `PROVIDER/MODEL` of anthropic, openai or google (default policyModel of config.json)")
	cmd.Flags().StringArrayVar(&f.upstream, "upstream", nil, "send requests for a provider's host elsewhere, as `HOST=URL`")
}

// origins are the hosts of the providers, and the path that each provider's library needs
// after the host.
var origins = map[string]struct{ host, path string }{
	"anthropic": {"api.anthropic.com", ""},
	"openai":    {"api.openai.com", "/v1/"},
	"google":    {"generativelanguage.googleapis.com", ""},
}

// find prepares the model without asking it anything.
func (f modelFlags) find(c config.Config) (compile.Model, error) {
	const op = "find the model"
	name := f.model
	if name == "" {
		name = c.PolicyModel
	}
	provider, model, ok := strings.Cut(name, "/")
	origin, known := origins[provider]
	if !ok || !known || model == "" {
		return nil, cli.Usagef("--model %q is not PROVIDER/MODEL with the provider anthropic, openai or google", name)
	}
	table, err := wiring.ProvidersOf(c)
	if err != nil {
		return nil, cli.Fail("read configuration", err, "")
	}
	base, err := f.base(table, origin.host)
	if err != nil {
		return nil, err
	}
	if base != "" {
		base = strings.TrimSuffix(base, "/") + origin.path
	}
	key := egress.EnvironmentKeys(table, []string{provider}, os.Getenv)[provider]
	if key == "" {
		return nil, cli.Fail(op, fmt.Errorf("%s: %w", provider, llm.ErrNoKey), "set "+keyVariable(table, provider)+", or choose another provider with --model")
	}
	path, err := helper.Find()
	if err != nil {
		return nil, cli.Fail(op, err, "install it beside this program")
	}
	return &asked{helper.New(path, helper.Request{Provider: provider, Model: model, Key: key, BaseURL: base})}, nil
}

// base returns the address to which requests for a host are sent, if a flag or the table of
// providers names another address than the host's own.
func (f modelFlags) base(table []mitm.Provider, host string) (string, error) {
	base := ""
	for _, p := range table {
		for _, h := range p.Hosts {
			if h.Name == host && h.BaseURL != "" {
				base = h.BaseURL
			}
		}
	}
	for _, s := range f.upstream {
		name, text, ok := strings.Cut(s, "=")
		if u, err := url.Parse(text); !ok || err != nil || u.Host == "" {
			return "", cli.Usagef("--upstream %q is not HOST=URL", s)
		}
		if !strings.EqualFold(name, host) {
			return "", cli.Usagef("--upstream: the model is asked at %s, not at %s", host, name)
		}
		base = text
	}
	return base, nil
}

// keyVariable names the environment variable for a provider's key.
func keyVariable(table []mitm.Provider, provider string) string {
	for _, p := range table {
		if p.Name == provider && len(p.KeyVariables) > 0 {
			return p.KeyVariables[0]
		}
	}
	return "its key in the environment"
}

// questionLimit is how long one question may take, and pauses are the times before each retry of
// a question that could not be asked.
const questionLimit = 5 * time.Minute

var pauses = []time.Duration{time.Second, 4 * time.Second}

// asked adapts a model of package llm to package compile.
type asked struct{ llm.Model }

// Ask asks the model, and asks again after a transient error.
func (m *asked) Ask(ctx context.Context, q compile.Question) (string, error) {
	for try := 0; ; try++ {
		text, err := m.once(ctx, q)
		if err == nil || ctx.Err() != nil || !llm.Transient(err) || try == len(pauses) {
			return text, errors.Join(err, ctx.Err())
		}
		select {
		case <-time.After(pauses[try]):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

func (m *asked) once(ctx context.Context, q compile.Question) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, questionLimit)
	defer cancel()
	text, err := m.Model.Ask(ctx, llm.Question{System: q.System, User: q.User, Schema: q.Schema, Name: q.Name, MaxTokens: q.MaxTokens})
	if errors.Is(err, llm.ErrCut) {
		return "", compile.ErrCut
	}
	return text, err
}
