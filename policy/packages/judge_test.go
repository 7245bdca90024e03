package packages

import (
	"testing"
	"time"
)

func TestJudge(t *testing.T) {
	now := time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)
	rules := &Rules{
		Quarantine: map[string]time.Duration{"npm": 72 * time.Hour},
		List: []Rule{
			{Ecosystem: "npm", Name: "@acme/*", Then: Allow},
			{InstallScript: true, YoungerThan: 720 * time.Hour, Then: Ask},
			{Name: "left*", PublisherChanged: true, Then: Deny},
			{Confusable: true, ProvenanceLost: true, Then: Deny},
		},
	}
	ago := func(hours int) time.Time { return now.Add(-time.Duration(hours) * time.Hour) }
	for name, test := range map[string]struct {
		facts Facts
		then  Then
		rule  string
	}{
		"old":                            {Facts{Ecosystem: "npm", Name: "a", Published: ago(73)}, Allow, ""},
		"young":                          {Facts{Ecosystem: "npm", Name: "a", Published: ago(71)}, Ask, "quarantine"},
		"at the limit":                   {Facts{Ecosystem: "npm", Name: "a", Published: ago(72)}, Allow, ""},
		"of unknown age":                 {Facts{Ecosystem: "npm", Name: "a"}, Ask, "quarantine"},
		"from the future":                {Facts{Ecosystem: "npm", Name: "a", Published: ago(-5)}, Ask, "quarantine"},
		"young and signed":               {Facts{Ecosystem: "npm", Name: "a", Ageless: true}, Allow, ""},
		"no quarantine":                  {Facts{Ecosystem: "apt", Name: "a"}, Allow, ""},
		"a rule before the quarantine":   {Facts{Ecosystem: "npm", Name: "@acme/a"}, Allow, "rule 1"},
		"a star stops at a slash":        {Facts{Ecosystem: "npm", Name: "@acme/a/b"}, Ask, "quarantine"},
		"malicious before a rule":        {Facts{Ecosystem: "npm", Name: "@acme/a", Malicious: "M-1"}, Deny, "malicious"},
		"script":                         {Facts{Ecosystem: "npm", Name: "a", Published: ago(719), Scripts: []string{"x"}}, Ask, "rule 2"},
		"old script":                     {Facts{Ecosystem: "npm", Name: "a", Published: ago(720), Scripts: []string{"x"}}, Allow, ""},
		"publisher":                      {Facts{Ecosystem: "npm", Name: "left-pad", Published: ago(9000), PublisherChanged: true}, Deny, "rule 3"},
		"publisher of another name":      {Facts{Ecosystem: "npm", Name: "right", Published: ago(9000), PublisherChanged: true}, Allow, ""},
		"one of two conditions":          {Facts{Ecosystem: "npm", Name: "a", Published: ago(9000), ProvenanceLost: true}, Allow, ""},
		"look-alike":                     {Facts{Ecosystem: "npm", Name: "a", Published: ago(9000), Confusable: "b"}, Ask, "look-alike"},
		"both":                           {Facts{Ecosystem: "npm", Name: "a", Published: ago(9000), Confusable: "b", ProvenanceLost: true}, Deny, "rule 4"},
		"a limit of the other ecosystem": {Facts{Ecosystem: "pypi", Name: "a", Published: ago(1)}, Allow, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if v := rules.Judge(test.facts, now); v.Then != test.then || v.Rule != test.rule || v.Then != Allow && v.Text == "" {
				t.Errorf("%+v", v)
			}
		})
	}
}

// A rule fits a package in whichever spelling its registry has it.
func TestRulesInOtherSpellings(t *testing.T) {
	for _, c := range []struct {
		pattern, ecosystem, name string
		want                     Then
	}{
		{"My.Lib_x", "pypi", "my-lib-x", Deny},
		{"my_lib", "pypi", "my-lib", Deny},
		{"My__*", "pypi", "my-lib", Deny},
		{"My_Lib", "cargo", "my-lib", Deny},
		{"my_lib", "pypi", "mylib", Allow},
		{"My_Lib", "npm", "my-lib", Allow},
		{"My-Lib", "npm", "my-lib", Allow},
		{"[^.]y", "pypi", "--", Allow},
	} {
		rules := &Rules{List: []Rule{{Name: c.pattern, Then: Deny}}}
		if v := rules.Judge(Facts{Ecosystem: c.ecosystem, Name: c.name}, time.Now()); v.Then != c.want {
			t.Errorf("%+v: %+v", c, v)
		}
	}
}

func TestRuleCheck(t *testing.T) {
	for _, bad := range []Rule{{Then: "maybe"}, {}, {Name: "[", Then: Allow}} {
		if bad.Check() == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
	if err := (&Rule{Name: "@a/*", Then: Deny}).Check(); err != nil {
		t.Error(err)
	}
}

func TestAge(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"3 days": 72 * time.Hour, "1 hour": time.Hour, "5 hours": 5*time.Hour + 59*time.Minute, "8 months": 250 * 24 * time.Hour,
		"2 years": 800 * 24 * time.Hour, "less than a minute": time.Second, "10 minutes": 10 * time.Minute,
	} {
		if got := Age(d); got != want {
			t.Errorf("%s: %s", d, got)
		}
	}
}
