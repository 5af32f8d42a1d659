package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"time"
)

// How long a check waits for one thing before it gives it up.
const giveUp = 30 * time.Second

// One call of the program: where the broker is, and what its checks report.
type script struct {
	bootstrap, prefix, scenario string
	failed                      bool
}

type line struct {
	Scenario string `json:"scenario"`
	Check    string `json:"check"`
	OK       bool   `json:"ok"`
	Detail   string `json:"detail"`
	Millis   int64  `json:"ms"`
	// The client has no means for the check; Detail says why.
	Unsupported bool `json:"unsupported"`
}

// The name of a topic, a group or a transactional id.
func (s *script) name(suffix string) string { return s.prefix + "-" + suffix }

func (s *script) run(scenario string, body func(*script) error) {
	s.scenario = scenario
	if err := body(s); err != nil {
		s.print(line{Check: "set-up", Detail: err.Error()})
	}
}

// Reports the check as ok, or as failed with the error that ended it.
func (s *script) check(name string, body func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), giveUp)
	defer cancel()
	started := time.Now()
	err := body(ctx)
	report := line{Check: name, OK: err == nil, Millis: time.Since(started).Milliseconds()}
	if err != nil {
		report.Detail = err.Error()
	}
	s.print(report)
}

func (s *script) unsupported(name, reason string) {
	s.print(line{Check: name, OK: true, Detail: reason, Unsupported: true})
}

func (s *script) print(report line) {
	report.Scenario = s.scenario
	s.failed = s.failed || !report.OK
	if err := json.NewEncoder(os.Stdout).Encode(report); err != nil {
		panic(err)
	}
}

func expect(actual, wanted any, what string) error {
	if reflect.DeepEqual(actual, wanted) {
		return nil
	}
	return fmt.Errorf("%s: %s instead of %s", what, short(actual), short(wanted))
}

func short(value any) string {
	text := fmt.Sprintf("%v", value)
	if len(text) > 500 {
		text = fmt.Sprintf("%s... (%d bytes)", text[:400], len(text))
	}
	return text
}

// The first that is wrong of several expectations.
func all(expectations ...error) error {
	for _, err := range expectations {
		if err != nil {
			return err
		}
	}
	return nil
}

// One step after the other, until one fails.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// Expects this error.
func refused(err, wanted error) error {
	switch {
	case errors.Is(err, wanted):
		return nil
	case err == nil:
		return fmt.Errorf("%v was expected, and there is no error", wanted)
	default:
		return fmt.Errorf("%v was expected, not: %w", wanted, err)
	}
}

// Asks again until it is so; for what a broker makes true a moment after its answer.
func eventually(ctx context.Context, what string, condition func() (bool, error)) error {
	for {
		if done, err := condition(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not in time: %s", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
