// What the benchmark of the broker needs in Go: franz-go as a client, and its kfake as a peer.
//
//	bench kfake
//	bench produce BOOTSTRAP TOPIC PARTITIONS RECORDS VALUE_SIZE
//	bench consume BOOTSTRAP TOPIC PARTITIONS RECORDS VALUE_SIZE
//	bench transact BOOTSTRAP TOPIC PRODUCERS MILLISECONDS VALUE_SIZE
//	bench exactly-once BOOTSTRAP TOPIC PARTITIONS PRODUCERS MILLISECONDS
//
// A client prints "begin" when it is under way and "end" when all is done, with what it has counted
// in between: who started it reads the clocks then. kfake prints its port and runs until it is killed.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(words []string) error {
	if len(words) == 1 && words[0] == "kfake" {
		return serveKfake()
	}
	if len(words) != 6 {
		return fmt.Errorf("usage: kfake, produce, consume, transact or exactly-once; see main.go")
	}
	bootstrap, topic := words[1], words[2]
	a, b, c := number(words[3]), number(words[4]), number(words[5])
	switch words[0] {
	case "produce":
		return load{bootstrap, topic, a, b, c}.produce()
	case "consume":
		return load{bootstrap, topic, a, b, c}.consume()
	case "transact":
		return transact(bootstrap, topic, a, time.Duration(b)*time.Millisecond, c)
	case "exactly-once":
		return exactlyOnce(bootstrap, topic, a, b, time.Duration(c)*time.Millisecond)
	}
	return fmt.Errorf("there is no %q", words[0])
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	return value
}

func end(told map[string]float64) error {
	line, err := json.Marshal(told)
	if err == nil {
		fmt.Println("end", string(line))
	}
	return err
}
