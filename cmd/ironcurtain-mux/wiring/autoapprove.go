package wiring

import (
	"fmt"
	"os"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/egress"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm/helper"
)

// autoApprove returns the configured automatic approval, or nil when it is off. If the mode needs a
// model and the model cannot be asked, every call waits for the person, and the log says why.
func (w Parts) autoApprove() *broker.AutoApprove {
	c := w.Config.AutoApprove
	if !c.Enabled {
		return nil
	}
	reads := c.Mode == "model"
	auto := &broker.AutoApprove{Reads: reads, Confirm: reads || c.Confirm == "model"}
	for _, host := range w.Config.GitHosts {
		name, _, _ := strings.Cut(host, ":")
		auto.Known = append(auto.Known, name)
	}
	if !auto.Confirm {
		return auto
	}
	name, model, _ := strings.Cut(c.Model, "/")
	key := egress.EnvironmentKeys(w.table, []string{name}, os.Getenv)[name]
	path, err := helper.Find()
	switch {
	case err != nil:
		auto.Missing = err
	case key == "":
		auto.Missing = fmt.Errorf("%s: %w", name, llm.ErrNoKey)
	default:
		auto.Model = helper.New(path, helper.Request{Provider: name, Model: model, Key: key})
	}
	return auto
}
