package policy

import "slices"

// Role says what an argument means for security.
type Role string

// The roles an annotation can give to an argument.
const (
	ReadPath      Role = "read-path"      // a file or directory that will be read
	WritePath     Role = "write-path"     // a file or directory that will be created or changed
	DeletePath    Role = "delete-path"    // a file or directory that will be removed or moved away
	WriteHistory  Role = "write-history"  // a repository whose history is rewritten
	DeleteHistory Role = "delete-history" // a repository that loses branches or tags
	RepoPath      Role = "repo-relative-path"

	FetchURL  Role = "fetch-url"
	GitRemote Role = "git-remote-url" // a URL or the name of a remote, for network git

	GithubOwner Role = "github-owner"
	GithubRepo  Role = "github-repo"
	ProxyDomain Role = "proxy-domain"

	GitRef        Role = "git-ref"         // a revision, branch or tag; never an option
	GitRemoteName Role = "git-remote-name" // the name of a remote in local configuration
	HTTPHeaders   Role = "http-headers"
	SearchQuery   Role = "search-query" // text that is sent to a search engine
	FreeText      Role = "free-text-egress"
	EmailAddress  Role = "email-address"

	BranchName      Role = "branch-name"
	CommitMessage   Role = "commit-message"
	EmailBody       Role = "email-body"
	SharePermission Role = "share-permission"
	None            Role = "none"
)

// category says which canonical form a role's values have.
type category uint8

const (
	opaque     category = iota // copied unchanged
	pathlike                   // resolved by pathx
	repoPath                   // a path within a repository
	urllike                    // normalized by urlx
	remote                     // resolved by gitx
	identifier                 // lower case
	refname                    // checked, copied
	headers                    // checked, copied
	egress                     // judged, copied
)

type roleInfo struct {
	category category
	resource bool // whether rules judge its values
}

var roles = map[Role]roleInfo{
	ReadPath:        {pathlike, true},
	WritePath:       {pathlike, true},
	DeletePath:      {pathlike, true},
	WriteHistory:    {pathlike, true},
	DeleteHistory:   {pathlike, true},
	RepoPath:        {repoPath, false}, // its files are judged by the roles of the call's directory
	FetchURL:        {urllike, true},
	GitRemote:       {remote, true},
	GithubOwner:     {identifier, true},
	GithubRepo:      {identifier, true},
	ProxyDomain:     {identifier, true},
	EmailAddress:    {egress, true},
	SearchQuery:     {egress, true},
	FreeText:        {egress, true},
	GitRef:          {refname, false},
	GitRemoteName:   {refname, false},
	HTTPHeaders:     {headers, false},
	BranchName:      {refname, false},
	CommitMessage:   {opaque, false},
	EmailBody:       {opaque, false},
	SharePermission: {opaque, false},
	None:            {opaque, false},
}

func (r Role) known() bool { _, ok := roles[r]; return ok }

// Judged reports whether rules must allow values of the role.
func (r Role) Judged() bool       { return roles[r].resource }
func (r Role) category() category { return roles[r].category }

// IsPath reports whether values of the role are paths.
func (r Role) IsPath() bool { return roles[r].category == pathlike }

// IsURL reports whether values of the role are addresses.
func (r Role) IsURL() bool { return r == FetchURL || r == GitRemote }

// named reports whether values of the role are names that are looked up or parsed.
func (r Role) named() bool {
	switch r.category() {
	case pathlike, repoPath, urllike, remote, refname:
		return true
	default:
		return false
	}
}

func (r Role) changesFiles() bool { return r == WritePath || r == DeletePath }

// mixed reports whether roles need more than one canonical form.
func mixed(list []Role) bool {
	var first category
	for _, r := range list {
		c := r.category()
		if c == opaque || c == egress {
			continue
		}
		if first != opaque && first != c {
			return true
		}
		first = c
	}
	return false
}

// subset reports whether every role of a is in b.
func subset(a, b []Role) bool {
	for _, r := range a {
		if !slices.Contains(b, r) {
			return false
		}
	}
	return true
}
