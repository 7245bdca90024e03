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
				Env:  []string{`PS1=\w\$ `, "HISTFILE=" + Home + "/.bash_history"},
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
