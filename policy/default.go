package policy

import (
	_ "embed"
	"fmt"
)

//go:embed default/compiled-policy.json
var defaultPolicy []byte

//go:embed default/tool-annotations.json
var defaultAnnotations []byte

// Default returns the policy and the annotations that the product ships. They cover the
// filesystem, git and fetch servers: work inside the workspace is allowed; a person is
// asked about everything outside the workspace and everything over the network.
func Default() (*Compiled, *Annotations) {
	c, err := ParseCompiled("default/compiled-policy.json", defaultPolicy)
	if err != nil {
		panic(fmt.Sprintf("policy: the embedded policy is broken: %v", err))
	}
	a, err := ParseAnnotations("default/tool-annotations.json", defaultAnnotations)
	if err != nil {
		panic(fmt.Sprintf("policy: the embedded annotations are broken: %v", err))
	}
	return c, a
}
