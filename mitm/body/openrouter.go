package body

import (
	"errors"
	"slices"
	"strings"
)

// openRouter adds OpenRouter's rules to those of another format.
func openRouter(rules func(*judge) error) func(*judge) error {
	return func(j *judge) error {
		j.router = true
		return rules(j)
	}
}

// routerNames adds OpenRouter's own top-level members to those of the format.
func (j *judge) routerNames(names []string) []string {
	if j.router {
		return append(slices.Clip(names), "plugins", "models", "preset", "provider", "connectors", "compound_custom")
	}
	return names
}

// routerMember reads a top-level member that the format does not judge.
func (j *judge) routerMember(key string) error {
	if !j.router {
		return j.setting(key)
	}
	switch key {
	case "plugins":
		return j.mustBeEmpty("plugins would make the provider search or fetch.")
	case "preset":
		return j.mustBeEmpty("a preset brings in settings that cannot be judged.")
	case "connectors", "compound_custom": // members of Cohere's and Groq's models
		return j.mustBeEmpty(key + " would make the provider search or fetch.")
	case "provider":
		return j.routing()
	case "models":
		return j.models()
	}
	if start := j.Pos(); searches(key) { // only false and null are known to turn a search off
		if err := j.skip(); err != nil || string(j.Since(start)) == "false" || string(j.Since(start)) == "null" {
			return err
		}
		return refuse("%s would make the provider search the web.", clip(key))
	}
	return j.setting(key)
}

// searches reports whether a member is about searching. OpenRouter passes unknown members
// on to many providers, and each has its own name for it.
func searches(key string) bool {
	letters := strings.Map(func(r rune) rune {
		if c, _ := letter(string(r)); c != 0 {
			return c
		}
		return -1
	}, key)
	return strings.Contains(letters, "search") || strings.Contains(letters, "browse")
}

// routing reads how a provider is chosen. Options of a single provider cannot be judged.
func (j *judge) routing() error {
	if j.Peek() != '{' {
		return j.setting("provider")
	}
	return j.members([]string{"options"}, func(key string) error {
		if key == "options" {
			return j.mustBeEmpty("options of a provider bring in settings that cannot be judged.")
		}
		return j.bounded(key, nil)
	})
}

// models reads the models that are tried one after the other.
func (j *judge) models() error {
	switch j.Peek() {
	case '[':
		return j.array(j.readOther)
	case 'n':
		return j.skip()
	}
	return errors.New("models is not an array")
}

// searchModels are parts of the names of models that search the web by themselves.
var searchModels = []string{"search-preview", "search-api", "deep-research"}

// routerModels are parts of the names of OpenRouter's models that search, that may select a
// searching model, that give search tools to other models, or that add settings.
var routerModels = []string{":online", "@preset", "perplexity/", "openrouter/auto", "openrouter/fusion"}

// CheckModel refuses models that access the network by themselves. It is for requests that
// name their model outside the body.
func CheckModel(name string) error { return new(judge).checkModel(name) }

// checkModel refuses models that access the network by themselves.
func (j *judge) checkModel(name string) error {
	if len(name) > maxText {
		return tooLong("the name of the model", len(name))
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return refuse("the model %q has a character in its name that no model has.", clip(name)) // a provider may ignore the character and use another model
	}
	name = strings.ToLower(name)
	if j.router && slices.ContainsFunc(routerModels, func(part string) bool { return strings.Contains(name, part) }) {
		return refuse("the model %q would make the provider search or use settings that cannot be judged.", clip(name))
	}
	for _, part := range searchModels {
		if strings.Contains(name, part) {
			return refuse("the model %q searches the web by itself.", clip(name))
		}
	}
	return nil
}
