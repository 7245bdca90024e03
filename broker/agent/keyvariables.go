package agent

// variablesOfKeys are the variables in which programs look for a provider's API key.
var variablesOfKeys = map[string][]string{
	"anthropic":  {"ANTHROPIC_API_KEY"},
	"openai":     {"OPENAI_API_KEY"},
	"google":     {"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"},
	"openrouter": {"OPENROUTER_API_KEY"},
}

// keyVariables returns the variables that pass a provider's sentinel to a program.
func keyVariables(provider, sentinel string) []string {
	var env []string
	for _, name := range variablesOfKeys[provider] {
		env = append(env, name+"="+sentinel)
	}
	return env
}
