package agent

// shell is a plain shell in the container an agent would have: for people who
// want to look around, and for measuring.
func shell() Adapter {
	return Adapter{
		Name:  "shell",
		Title: "Shell",
		Image: "shell",
		Launch: func(Host) (Launch, error) {
			return Launch{
				Argv: []string{"bash", "--noprofile", "--norc", "-i"},
				// The marks (OSC 133) tell the tab where prompts are, and whether a command runs. The
				// prompt contains its mark, so that redrawing the prompt repeats the mark: the
				// engine's log, from which a tab is restored, ends with the last whole line.
				Env: []string{`PS1=\[\e]133;A\a\]\w\$ `, `PS0=\e]133;C\a`, "HISTFILE=" + Home + "/.bash_history"},
			}, nil
		},
		Once: func(_ Host, task string) (Launch, error) {
			return Launch{Argv: []string{"bash", "--noprofile", "--norc", "-c", task}}, nil
		},
		JobControl: true,
		Submit: func(text string) Submission {
			return Submission{Steps: []string{bracketed(text) + "\r"}}
		},
	}
}
