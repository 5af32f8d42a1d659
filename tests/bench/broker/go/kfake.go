package main

import (
	"fmt"
	"net"

	"github.com/twmb/franz-go/pkg/kfake"
)

// One broker, as the others are; kfake's default is three, in one process.
func serveKfake() error {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(cluster.ListenAddrs()[0])
	if err != nil {
		return err
	}
	fmt.Println(port)
	select {}
}
