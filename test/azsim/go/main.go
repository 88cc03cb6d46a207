// Microsoft's Go SDK against azsim, over verified TLS.
//
//	azsim-go walk      through the life of disks; prints the name of each step that is done
//	azsim-go read N    reads a list that often, as fast as it can
//
// The address, the authority's file and a client's credentials are in the environment. It ends at
// the first thing that is not as it should be.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"
)

// What the environment says.
type world struct {
	url, tenant, client, secret, subscription, group, location string
}

func fromEnvironment() world {
	return world{
		url: os.Getenv("AZSIM_URL"), tenant: os.Getenv("AZSIM_TENANT"),
		client: os.Getenv("AZSIM_CLIENT"), secret: os.Getenv("AZSIM_SECRET"),
		subscription: os.Getenv("AZSIM_SUBSCRIPTION"), group: os.Getenv("AZSIM_GROUP"),
		location: os.Getenv("AZSIM_LOCATION"),
	}
}

func walk(ctx context.Context, azure *azure) error {
	for _, step := range steps {
		if err := step.do(ctx, azure); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Println(step.name)
	}
	return nil
}

func read(ctx context.Context, azure *azure, times string) error {
	n, err := strconv.Atoi(times)
	for ; n > 0 && err == nil; n-- {
		_, err = azure.disks.NewListByResourceGroupPager(azure.group, nil).NextPage(ctx)
	}
	return err
}

func run(arguments []string) error {
	azure, err := connect(fromEnvironment())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if len(arguments) == 2 && arguments[0] == "read" {
		return read(ctx, azure, arguments[1])
	}
	return walk(ctx, azure)
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
