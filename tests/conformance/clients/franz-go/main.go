// franz-go against any broker: franz-go BOOTSTRAP SCENARIO... [--prefix=NAME], or as a worker of
// transforming.py: franz-go transform BOOTSTRAP --NAME=VALUE...
// What each scenario asks for stands in scenarios.toml, one folder up.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

var scenarios = map[string]func(*script) error{
	"admin":                    admin,
	"produce":                  produceScenario,
	"consume":                  consume,
	"cluster":                  cluster,
	"restart-before":           restartBefore,
	"restart-after":            afterRestart(recordCount),
	"kill-after":               afterRestart(2 * recordCount),
	"groups":                   classicGroups,
	"groups-consumer-protocol": consumerProtocolGroups,
	"transactions":             transactions,
}

func main() {
	if len(os.Args) == 9 && os.Args[1] == "login" {
		if err := login(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, strings.ToUpper(err.Error()))
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 5 && os.Args[1] == "share" {
		if err := share(os.Args[2], os.Args[3], os.Args[4]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 2 && os.Args[1] == "transform" {
		if err := transform(os.Args[2], os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	s := &script{prefix: "franz-go"}
	var chosen []string
	for _, argument := range os.Args[1:] {
		switch name, isPrefix := strings.CutPrefix(argument, "--prefix="); {
		case isPrefix:
			s.prefix = name
		case s.bootstrap == "":
			s.bootstrap = argument
		default:
			chosen = append(chosen, argument)
		}
	}
	unknown := slices.ContainsFunc(chosen, func(name string) bool { return scenarios[name] == nil })
	if len(chosen) == 0 || unknown {
		fmt.Fprintln(os.Stderr, "usage: franz-go BOOTSTRAP SCENARIO... [--prefix=NAME]")
		os.Exit(2)
	}
	for _, name := range chosen {
		s.run(name, scenarios[name])
	}
	if s.failed {
		os.Exit(1)
	}
}
