// Microsoft's Go SDK as it was until 2023 (services/..., with go-autorest and adal) against azsim, over
// verified TLS.
//
//	go_old secret    through the life of a group with disks; prints each step that is done
//	go_old certificate FILE    the same, with a certificate and its key in a PEM file
//
// Where everything is, it asks azsim's /metadata/endpoints; the rest is in the environment. It ends at
// the first thing that is not as it should be.
package main

import (
	"context"
	"crypto/rsa"
	"crypto/tls"
	"fmt"
	"os"
	"time"

	"github.com/Azure/azure-sdk-for-go/services/compute/mgmt/2019-07-01/compute"
	"github.com/Azure/azure-sdk-for-go/services/resources/mgmt/2019-05-01/resources"
	"github.com/Azure/go-autorest/autorest"
	"github.com/Azure/go-autorest/autorest/adal"
	"github.com/Azure/go-autorest/autorest/azure"
)

// The SDK's clients, pointed at azsim and otherwise as they are; SSL_CERT_FILE names its authority.
type client struct {
	subscription, group, location string

	groups    resources.GroupsClient
	disks     compute.DisksClient
	snapshots compute.SnapshotsClient
	vms       compute.VirtualMachinesClient
	sets      compute.VirtualMachineScaleSetsClient
	instances compute.VirtualMachineScaleSetVMsClient
	skus      compute.ResourceSkusClient
	usages    compute.UsageClient
	sizes     compute.VirtualMachineSizesClient
}

func token(environment azure.Environment, arguments []string) (*adal.ServicePrincipalToken, error) {
	config, err := adal.NewOAuthConfig(environment.ActiveDirectoryEndpoint, os.Getenv("AZSIM_TENANT"))
	if err != nil {
		return nil, err
	}
	id := os.Getenv("AZSIM_CLIENT")
	if arguments[0] == "secret" {
		return adal.NewServicePrincipalToken(
			*config, id, os.Getenv("AZSIM_SECRET"), environment.TokenAudience)
	}
	pair, err := tls.LoadX509KeyPair(arguments[1], arguments[1])
	if err != nil {
		return nil, err
	}
	return adal.NewServicePrincipalTokenFromCertificate(
		*config, id, pair.Leaf, pair.PrivateKey.(*rsa.PrivateKey), environment.TokenAudience)
}

func connect(arguments []string) (*client, error) {
	url, subscription := os.Getenv("AZSIM_URL"), os.Getenv("AZSIM_SUBSCRIPTION")
	environment, err := azure.EnvironmentFromURL(url)
	if err != nil {
		return nil, err
	}
	token, err := token(environment, arguments)
	if err != nil {
		return nil, err
	}
	c := client{
		subscription: subscription, group: "old", location: os.Getenv("AZSIM_LOCATION"),
		groups:    resources.NewGroupsClientWithBaseURI(url, subscription),
		disks:     compute.NewDisksClientWithBaseURI(url, subscription),
		snapshots: compute.NewSnapshotsClientWithBaseURI(url, subscription),
		vms:       compute.NewVirtualMachinesClientWithBaseURI(url, subscription),
		sets:      compute.NewVirtualMachineScaleSetsClientWithBaseURI(url, subscription),
		instances: compute.NewVirtualMachineScaleSetVMsClientWithBaseURI(url, subscription),
		skus:      compute.NewResourceSkusClientWithBaseURI(url, subscription),
		usages:    compute.NewUsageClientWithBaseURI(url, subscription),
		sizes:     compute.NewVirtualMachineSizesClientWithBaseURI(url, subscription),
	}
	for _, each := range []*autorest.Client{
		&c.groups.Client, &c.disks.Client, &c.snapshots.Client, &c.vms.Client, &c.sets.Client,
		&c.instances.Client, &c.skus.Client, &c.usages.Client, &c.sizes.Client,
	} {
		each.Authorizer = autorest.NewBearerAuthorizer(token)
		each.PollingDelay = time.Second
		each.RetryDuration = 100 * time.Millisecond // of a poll that says the operation failed
	}
	return &c, nil
}

func run(arguments []string) error {
	c, err := connect(arguments)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	for _, step := range steps {
		if err := step.do(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Println(step.name)
	}
	return nil
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
