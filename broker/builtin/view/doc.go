// Package view is what a person sees of the built-in agent.
package view
