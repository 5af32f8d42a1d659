// Package fencepost starts a Fencepost broker for tests and controls it over HTTP.
package fencepost

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Fields are part of a request in JSON, such as {"api": "EndTxn"}.
type Fields map[string]any

// Rule is a fault: which requests, and what happens to them.
type Rule struct {
	Name           string `json:"name,omitempty"`
	Match          Fields `json:"match,omitempty"`
	Act            Fields `json:"act"`
	Times          int    `json:"times,omitempty"`
	Skip           int    `json:"skip,omitempty"`
	After          string `json:"after,omitempty"`
	While          string `json:"while,omitempty"`
	MayStayUnfired bool   `json:"may_stay_unfired,omitempty"`
}

// Fault is a rule that the broker has, and what it has done.
type Fault struct {
	Name    string
	Fired   int
	Matched int
	Held    int
	Rule    struct {
		MayStayUnfired bool `json:"may_stay_unfired"`
	}
}

// Broker is a broker that runs, and its control port.
type Broker struct {
	Bootstrap string
	Control   string
	PID       int
	process   *os.Process
	ended     chan struct{}
}

var client = &http.Client{Timeout: 90 * time.Second}

// Start starts a broker for one test. At the test's end it is checked and stopped.
// The arguments are those of "fencepost up", such as "--topic", "orders:1".
func Start(t testing.TB, args ...string) *Broker {
	t.Helper()
	broker, err := Launch(args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := broker.Check(); err != nil {
			t.Error(err)
		}
		broker.Stop()
	})
	return broker
}

// Launch starts a broker that several tests share: call Check after each and Stop at the end.
func Launch(args ...string) (*Broker, error) {
	command := os.Getenv("FENCEPOST")
	if command == "" {
		command = "fencepost"
	}
	options := []string{"up", "--port", "0", "--control", "0", "--json", "--exit-with-parent"}
	up := exec.Command(command, append(options, args...)...)
	up.Stderr = os.Stderr
	if _, err := up.StdinPipe(); err != nil { // Windows: its end is the end of this process
		return nil, err
	}
	stdout, err := up.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := up.Start(); err != nil {
		return nil, err
	}
	broker := &Broker{process: up.Process, ended: make(chan struct{})}
	line, _ := bufio.NewReader(stdout).ReadBytes('\n')
	if err := json.Unmarshal(line, broker); err != nil {
		up.Process.Kill()
		return nil, fmt.Errorf("%s up was not ready: %v", command, up.Wait())
	}
	go func() {
		up.Wait()
		close(broker.ended)
	}()
	return broker, nil
}

// Stop stops the broker and waits until its process has ended.
func (b *Broker) Stop() {
	if b.process.Signal(syscall.SIGTERM) != nil { // Windows, or the broker has ended
		b.process.Kill()
	}
	select {
	case <-b.ended:
	case <-time.After(10 * time.Second):
		b.process.Kill()
		<-b.ended
	}
}

// AddFault adds a fault rule.
func (b *Broker) AddFault(rule Rule) (fault Fault, err error) {
	err = b.Request("POST", "/v1/faults", rule, &fault)
	return fault, err
}

// Faults returns the fault rules in the order in which they were added.
func (b *Broker) Faults() ([]Fault, error) {
	var answer struct{ Faults []Fault }
	err := b.Request("GET", "/v1/faults", nil, &answer)
	return answer.Faults, err
}

// WaitUntilFired waits for up to 10 s until a rule has fired so often.
func (b *Broker) WaitUntilFired(name string, times int) (fault Fault, err error) {
	path := fmt.Sprintf("/v1/faults/%s/fired?times=%d", url.PathEscape(name), times)
	err = b.Request("GET", path, nil, &fault)
	return fault, err
}

// RemoveFault removes a rule. What it holds goes on.
func (b *Broker) RemoveFault(name string) error {
	return b.Request("DELETE", "/v1/faults/"+url.PathEscape(name), nil, nil)
}

// AdvanceClock moves the broker's clock forward.
func (b *Broker) AdvanceClock(by time.Duration) error {
	return b.Request("POST", "/v1/clock/advance", Fields{"ms": by.Milliseconds()}, nil)
}

// HoldMarkers holds back markers by transactional_id, topic and partition, and returns an id.
func (b *Broker) HoldMarkers(of Fields) (int, error) {
	var answer struct{ Hold int }
	err := b.Request("POST", "/v1/markers/holds", of, &answer)
	return answer.Hold, err
}

// ReleaseMarkers lets markers be written.
func (b *Broker) ReleaseMarkers(hold int) error {
	return b.Request("DELETE", fmt.Sprintf("/v1/markers/holds/%d", hold), nil, nil)
}

// CreateTopic creates a topic.
func (b *Broker) CreateTopic(name string, partitions int) error {
	return b.Request("POST", "/v1/topics", Fields{"name": name, "partitions": partitions}, nil)
}

// Topics returns the topics' names.
func (b *Broker) Topics() ([]string, error) {
	var answer struct{ Topics []struct{ Name string } }
	err := b.Request("GET", "/v1/topics", nil, &answer)
	names := []string{}
	for _, each := range answer.Topics {
		names = append(names, each.Name)
	}
	return names, err
}

// DeleteTopic deletes a topic.
func (b *Broker) DeleteTopic(name string) error {
	return b.Request("DELETE", "/v1/topics/"+url.PathEscape(name), nil, nil)
}

// Reset goes back to the state right after the start and removes all faults. Clients connect again.
func (b *Broker) Reset() error {
	return b.Request("POST", "/v1/reset", nil, nil)
}

// Outcome is what happened in a scenario, and what was seen.
type Outcome struct {
	Name     string
	Timeline []string
	Facts    Fields
}

// RunScenario makes a scenario happen, such as "lost-commit-answer".
func (b *Broker) RunScenario(name string) (outcome Outcome, err error) {
	err = b.Request("POST", "/v1/scenarios/"+url.PathEscape(name)+"/run", nil, &outcome)
	return outcome, err
}

// Check removes all faults and holds. It returns an error if a rule has never fired.
func (b *Broker) Check() error {
	faults, err := b.Faults()
	if err != nil {
		return err
	}
	var unfired []string
	for _, each := range faults {
		if each.Fired == 0 && !each.Rule.MayStayUnfired {
			unfired = append(unfired, each.Name)
		}
	}
	var answer struct{ Holds []struct{ Hold int } }
	if err := b.Request("DELETE", "/v1/faults", nil, nil); err != nil {
		return err
	}
	if err := b.Request("GET", "/v1/markers/holds", nil, &answer); err != nil {
		return err
	}
	for _, each := range answer.Holds {
		if err := b.ReleaseMarkers(each.Hold); err != nil {
			return err
		}
	}
	if len(unfired) > 0 {
		return fmt.Errorf("fault rules never fired: %s", strings.Join(unfired, ", "))
	}
	return nil
}

// Request sends any request to the control port and reads the answer's JSON into answer.
func (b *Broker) Request(method, path string, body, answer any) error {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, "http://"+b.Control+path, sent)
	if err != nil {
		return err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 400 {
		return fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
	}
	if answer == nil || len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, answer)
}
