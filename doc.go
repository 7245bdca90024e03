// Package ironcurtainmux holds no code: it is the top of the tree, and its
// tests keep the promises that no single package can keep.
//
// Read the tree from the outside in. Command cmd/ironcurtain-mux parses, wires
// and prints. Package tui draws tabs, asks the person and knows the rest only
// through broker.API. Package term turns an agent's bytes into cells, so that
// nothing an agent writes reaches the person's terminal. Package broker is the
// trusted process: it owns the sessions and what may leave them. Below it stand
// three packages that know nothing of each other: policy judges tool calls, mitm
// stands between an agent and its model, docker runs the containers.
//
// architecture_test.go holds that direction, pkgdoc_test.go sees to it that every
// package says what it is for, and clean_test.go that the tree speaks of nothing
// but itself.
package ironcurtainmux
