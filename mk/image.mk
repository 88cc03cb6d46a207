# make image       the driver's container image, as an archive that container tools load
# make sim-image   the simulation's, with azsim: build/sim-image.tar (docs/simulation.md)

IMAGE ?= azuredisk-csi:$(VERSION)
SIM_IMAGE ?= azdisk-sim:$(VERSION)
WRITE_IMAGE = PYTHONPATH=test PYTHONDONTWRITEBYTECODE=1 python3 -m deployment.image

.PHONY: image sim-image
image: programs | $(call packages,image)
	@$(WRITE_IMAGE) driver $(IMAGE) $(BUILD)/image.tar

sim-image: programs $(SIM) | $(call packages,image)
	@$(WRITE_IMAGE) sim $(SIM_IMAGE) $(BUILD)/sim-image.tar
