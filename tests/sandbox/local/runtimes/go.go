package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"time"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	var group sync.WaitGroup
	for i := 0; i < 50; i++ {
		group.Add(1)
		go func() { time.Sleep(time.Millisecond); group.Done() }()
	}
	group.Wait()
	check(exec.Command("true").Run())
	server, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go func() { c, _ := server.Accept(); c.Write([]byte("x")); c.Close() }()
	client, err := net.Dial("tcp", server.Addr().String())
	check(err)
	_, err = client.Read(make([]byte, 1))
	check(err)
	check(os.WriteFile("one.txt", []byte("x"), 0o600))
	fmt.Println("done")
}
