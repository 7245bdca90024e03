package broker

import "github.com/ironcurtain-mux/ironcurtain-mux/broker/session"

// Config is what the broker and its sessions are made of. All paths are absolute.
type Config = session.Config

// AutoApprove lets calls through that a person has just ordered.
type AutoApprove = session.AutoApprove

// Images says what the agents' images are built on.
type Images = session.Images

// Resources bound one container.
type Resources = session.Resources

// Credentials are the real keys and logins of the person, for all sessions.
type Credentials = session.Credentials

// AgentKey says where the API key of an agent's sessions is.
type AgentKey = session.AgentKey

// GitHub is the GitHub server whose API agents may use.
type GitHub = session.GitHub

// OwnAgent is what an agent in a process of this machine needs.
type OwnAgent = session.OwnAgent

// HostTerminal is a program of this machine on a terminal of its own.
type HostTerminal = session.HostTerminal
