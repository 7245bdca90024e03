package main

import (
	"errors"
	"os"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/egress"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm/provider"
)

// autoApprove is the automatic approval as it is configured; nil when it is off.
// A model that has to confirm and has no key leaves everything to the person, and
// says so each time.
func (w wiring) autoApprove() (*broker.AutoApprove, error) {
	c := w.config.AutoApprove
	if !c.Enabled {
		return nil, nil //nolint:nilnil // nil is what off means
	}
	auto := &broker.AutoApprove{Confirm: c.Confirm == "model"}
	for _, host := range w.config.GitHosts {
		name, _, _ := strings.Cut(host, ":")
		auto.Known = append(auto.Known, name)
	}
	if !auto.Confirm {
		return auto, nil
	}
	name, model, _ := strings.Cut(c.Model, "/")
	m, err := provider.New(provider.Options{
		Provider: name, Model: model, Key: egress.EnvironmentKeys(w.table, []string{name}, os.Getenv)[name],
	})
	if errors.Is(err, llm.ErrNoKey) {
		auto.Missing = err
		return auto, nil
	}
	auto.Model = m
	return auto, err
}
