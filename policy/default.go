package policy

import (
	_ "embed"
	"fmt"
)

//go:embed default/compiled-policy.json
var defaultPolicy []byte

//go:embed default/tool-annotations.json
var defaultAnnotations []byte

// Default returns the policy and the annotations that the product ships: for
// the filesystem, git and fetch servers, work inside the workspace is free,
// everything beyond it and everything over the network asks.
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
