package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
)

// The SDK's clients, pointed at azsim and otherwise as they are; SSL_CERT_FILE names its authority.
type azure struct {
	world
	disks     *armcompute.DisksClient
	snapshots *armcompute.SnapshotsClient
	vms       *armcompute.VirtualMachinesClient
	sets      *armcompute.VirtualMachineScaleSetsClient
	instances *armcompute.VirtualMachineScaleSetVMsClient
}

func connect(w world) (*azure, error) {
	options := azcore.ClientOptions{
		Cloud: cloud.Configuration{
			ActiveDirectoryAuthorityHost: w.url,
			Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
				cloud.ResourceManager: {Endpoint: w.url, Audience: w.url},
			},
		},
		Retry: policy.RetryOptions{MaxRetries: 5, RetryDelay: 50 * time.Millisecond},
	}
	credential, err := azidentity.NewClientSecretCredential(w.tenant, w.client, w.secret,
		&azidentity.ClientSecretCredentialOptions{
			ClientOptions: options, DisableInstanceDiscovery: true})
	if err != nil {
		return nil, err
	}
	factory, err := armcompute.NewClientFactory(w.subscription, credential,
		&arm.ClientOptions{ClientOptions: options, DisableRPRegistration: true})
	if err != nil {
		return nil, err
	}
	return &azure{
		world: w, disks: factory.NewDisksClient(), snapshots: factory.NewSnapshotsClient(),
		vms:       factory.NewVirtualMachinesClient(),
		sets:      factory.NewVirtualMachineScaleSetsClient(),
		instances: factory.NewVirtualMachineScaleSetVMsClient(),
	}, nil
}

// Takes an operation to its end.
func finish[T any](ctx context.Context, poller *runtime.Poller[T], err error) (T, error) {
	if err != nil {
		var nothing T
		return nothing, err
	}
	return poller.PollUntilDone(ctx, &runtime.PollUntilDoneOptions{Frequency: time.Second})
}

func (a *azure) id(kind, name string) string {
	return fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Compute/%s/%s",
		a.subscription, a.group, kind, name)
}

// A disk in zone 1, from a source if that is not "".
func (a *azure) makeDisk(ctx context.Context, name string, gib, shares int32, source string) (
	armcompute.Disk, error) {
	creation := armcompute.CreationData{CreateOption: to.Ptr(armcompute.DiskCreateOptionEmpty)}
	if source != "" {
		creation.CreateOption = to.Ptr(armcompute.DiskCreateOptionCopy)
		creation.SourceResourceID = to.Ptr(source)
	}
	poller, err := a.disks.BeginCreateOrUpdate(ctx, a.group, name, armcompute.Disk{
		Location: to.Ptr(a.location),
		Zones:    []*string{to.Ptr("1")},
		SKU:      &armcompute.DiskSKU{Name: to.Ptr(armcompute.DiskStorageAccountTypesPremiumLRS)},
		Properties: &armcompute.DiskProperties{
			CreationData: &creation, DiskSizeGB: to.Ptr(gib), MaxShares: to.Ptr(shares)},
	}, nil)
	made, err := finish(ctx, poller, err)
	return made.Disk, err
}

func (a *azure) change(attach, detach []string) armcompute.AttachDetachDataDisksRequest {
	request := armcompute.AttachDetachDataDisksRequest{}
	for _, name := range attach {
		request.DataDisksToAttach = append(request.DataDisksToAttach,
			&armcompute.DataDisksToAttach{DiskID: to.Ptr(a.id("disks", name))})
	}
	for _, name := range detach {
		request.DataDisksToDetach = append(request.DataDisksToDetach,
			&armcompute.DataDisksToDetach{DiskID: to.Ptr(a.id("disks", name))})
	}
	return request
}

func (a *azure) attachDetach(ctx context.Context, vm string, attach, detach []string) error {
	poller, err := a.vms.BeginAttachDetachDataDisks(ctx, a.group, vm, a.change(attach, detach), nil)
	_, err = finish(ctx, poller, err)
	return err
}

func (a *azure) attachDetachInstance(ctx context.Context, set, instance string,
	attach, detach []string) error {
	poller, err := a.instances.BeginAttachDetachDataDisks(ctx, a.group, set, instance,
		a.change(attach, detach), nil)
	_, err = finish(ctx, poller, err)
	return err
}

// Whether an error is Azure's refusal with that status and code.
func expectRefusal(err error, status int, code string) error {
	var refusal *azcore.ResponseError
	if !errors.As(err, &refusal) || refusal.StatusCode != status || refusal.ErrorCode != code {
		return fmt.Errorf("expected %d %s, got %v", status, code, err)
	}
	return nil
}

func expect(what string, found, wanted any) error {
	if fmt.Sprint(found) != fmt.Sprint(wanted) {
		return fmt.Errorf("%s is %v, not %v", what, found, wanted)
	}
	return nil
}
