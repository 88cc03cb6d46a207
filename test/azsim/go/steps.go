package main

import (
	"context"
	"errors"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
)

// Each begins with what the one before it left.
var steps = []struct {
	name string
	do   func(context.Context, *azure) error
}{
	{"create", create},
	{"attach to two VMs and an instance", attach},
	{"refuse a fourth", refuseAFourth},
	{"detach", detach},
	{"attach by the models", attachByModels},
	{"etag", checkEtag},
	{"resize", resize},
	{"snapshot and restore", snapshotAndRestore},
	{"lists", lists},
	{"delete", remove},
}

func create(ctx context.Context, a *azure) error {
	disk, err := a.makeDisk(ctx, "shared", 1024, 3, "")
	if err != nil {
		return err
	}
	return errors.Join(
		expect("maxShares", *disk.Properties.MaxShares, 3),
		expect("tier", *disk.Properties.Tier, "P30"),
		expect("diskState", *disk.Properties.DiskState, armcompute.DiskStateUnattached))
}

func attach(ctx context.Context, a *azure) error {
	for _, vm := range []string{"vm1", "vm2"} {
		if err := a.attachDetach(ctx, vm, []string{"shared"}, nil); err != nil {
			return err
		}
	}
	if err := a.attachDetachInstance(ctx, "pool", "3", []string{"shared"}, nil); err != nil {
		return err
	}
	disk, err := a.disks.Get(ctx, a.group, "shared", nil)
	if err != nil {
		return err
	}
	owners := []string{}
	for _, share := range disk.Properties.ShareInfo {
		owners = append(owners, *share.VMURI)
	}
	return errors.Join(
		expect("diskState", *disk.Properties.DiskState, armcompute.DiskStateAttached),
		expect("shareInfo", owners, []string{
			a.id("virtualMachines", "vm1"), a.id("virtualMachines", "vm2"),
			a.id("virtualMachineScaleSets", "pool/virtualMachines/3")}))
}

func refuseAFourth(ctx context.Context, a *azure) error {
	err := a.attachDetach(ctx, "vm3", []string{"shared"}, nil)
	if err := expectRefusal(err, 409, "ConflictingUserInput"); err != nil {
		return err
	}
	_, err = a.disks.BeginDelete(ctx, a.group, "shared", nil)
	return expectRefusal(err, 409, "OperationNotAllowed")
}

func detach(ctx context.Context, a *azure) error {
	return errors.Join(
		a.attachDetach(ctx, "vm1", nil, []string{"shared"}),
		a.attachDetach(ctx, "vm2", nil, []string{"shared"}),
		a.attachDetachInstance(ctx, "pool", "3", nil, []string{"shared"}))
}

// The lists of data disks in the models of a VM and of an instance.
func attachByModels(ctx context.Context, a *azure) error {
	entry := []*armcompute.DataDisk{{
		Lun: to.Ptr[int32](5), CreateOption: to.Ptr(armcompute.DiskCreateOptionTypesAttach),
		ManagedDisk: &armcompute.ManagedDiskParameters{ID: to.Ptr(a.id("disks", "shared"))}}}
	patch, err := a.vms.BeginUpdate(ctx, a.group, "vm1", armcompute.VirtualMachineUpdate{
		Properties: &armcompute.VirtualMachineProperties{
			StorageProfile: &armcompute.StorageProfile{DataDisks: entry}}}, nil)
	vm, err := finish(ctx, patch, err)
	if err != nil {
		return err
	}
	put, err := a.instances.BeginUpdate(ctx, a.group, "pool", "3", armcompute.VirtualMachineScaleSetVM{
		Properties: &armcompute.VirtualMachineScaleSetVMProperties{
			StorageProfile: &armcompute.StorageProfile{DataDisks: entry}}}, nil)
	instance, err := finish(ctx, put, err)
	if err != nil {
		return err
	}
	return errors.Join(
		expect("LUN of the VM", *vm.Properties.StorageProfile.DataDisks[0].Lun, 5),
		expect("LUN of the instance", *instance.Properties.StorageProfile.DataDisks[0].Lun, 5),
		expect("instanceId", *instance.InstanceID, "3"),
		a.attachDetach(ctx, "vm1", nil, []string{"shared"}),
		a.attachDetachInstance(ctx, "pool", "3", nil, []string{"shared"}))
}

func checkEtag(ctx context.Context, a *azure) error {
	vm, err := a.vms.Get(ctx, a.group, "vm1", nil)
	if err != nil {
		return err
	}
	change := armcompute.VirtualMachineUpdate{Tags: map[string]*string{"a": to.Ptr("b")}}
	poller, err := a.vms.BeginUpdate(ctx, a.group, "vm1", change,
		&armcompute.VirtualMachinesClientBeginUpdateOptions{IfMatch: vm.Etag})
	if _, err = finish(ctx, poller, err); err != nil {
		return err
	}
	_, err = a.vms.BeginUpdate(ctx, a.group, "vm1", change,
		&armcompute.VirtualMachinesClientBeginUpdateOptions{IfMatch: vm.Etag})
	return expectRefusal(err, 412, "PreconditionFailed")
}

func resize(ctx context.Context, a *azure) error {
	size := func(gib int32) armcompute.DiskUpdate {
		return armcompute.DiskUpdate{
			Properties: &armcompute.DiskUpdateProperties{DiskSizeGB: to.Ptr(gib)}}
	}
	poller, err := a.disks.BeginUpdate(ctx, a.group, "shared", size(2048), nil)
	disk, err := finish(ctx, poller, err)
	if err != nil {
		return err
	}
	_, err = a.disks.BeginUpdate(ctx, a.group, "shared", size(512), nil)
	return errors.Join(
		expect("tier", *disk.Properties.Tier, "P40"), expectRefusal(err, 409, "OperationNotAllowed"))
}

func snapshotAndRestore(ctx context.Context, a *azure) error {
	poller, err := a.snapshots.BeginCreateOrUpdate(ctx, a.group, "snapshot", armcompute.Snapshot{
		Location: to.Ptr(a.location),
		Properties: &armcompute.SnapshotProperties{
			Incremental: to.Ptr(true),
			CreationData: &armcompute.CreationData{
				CreateOption:     to.Ptr(armcompute.DiskCreateOptionCopy),
				SourceResourceID: to.Ptr(a.id("disks", "shared"))}},
	}, nil)
	snapshot, err := finish(ctx, poller, err)
	if err != nil {
		return err
	}
	disk, err := a.makeDisk(ctx, "restored", 2048, 1, *snapshot.ID)
	if err != nil {
		return err
	}
	return errors.Join(
		expect("completionPercent", *snapshot.Properties.CompletionPercent, 100),
		expect("source", *disk.Properties.CreationData.SourceUniqueID, *snapshot.Properties.UniqueID))
}

// More than a page of each.
func lists(ctx context.Context, a *azure) error {
	for _, name := range []string{"d1", "d2", "d3"} {
		if _, err := a.makeDisk(ctx, name, 4, 1, ""); err != nil {
			return err
		}
	}
	names := []string{}
	for pager := a.disks.NewListByResourceGroupPager(a.group, nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, disk := range page.Value {
			names = append(names, *disk.Name)
		}
	}
	for pager := a.instances.NewListPager(a.group, "pool", nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, vm := range page.Value {
			names = append(names, *vm.Name)
		}
	}
	set, err := a.sets.Get(ctx, a.group, "pool", nil)
	if err != nil {
		return err
	}
	return errors.Join(
		expect("names", names, []string{"shared", "restored", "d1", "d2", "d3", "pool_3", "pool_4",
			"pool_5"}),
		expect("capacity", *set.SKU.Capacity, 3))
}

func remove(ctx context.Context, a *azure) error {
	for _, name := range []string{"shared", "restored", "d1", "d2", "d3", "d3"} {
		poller, err := a.disks.BeginDelete(ctx, a.group, name, nil)
		if _, err = finish(ctx, poller, err); err != nil {
			return err
		}
	}
	poller, err := a.snapshots.BeginDelete(ctx, a.group, "snapshot", nil)
	if _, err = finish(ctx, poller, err); err != nil {
		return err
	}
	_, err = a.disks.Get(ctx, a.group, "shared", nil)
	return expectRefusal(err, 404, "ResourceNotFound")
}
