"""Programs of two releases, one after the other, work together, as they have to while an upgrade goes on or has stopped halfway.
Each volume lives from its claim over the loss of its node to its deletion.

Started by `make skew PREVIOUS=v1.2.3`."""

import pytest
from cluster.waiting import until
from deployment.driver import VERSION
from deployment.failover import NetworkCut
from failover.test_failover import TAINT, Database, taints

from .conftest import WORKLOADS


@pytest.mark.parametrize("old", WORKLOADS)
def test_a_node_is_lost(driver, skew, old):
    with skew.before(old), Database(driver, f"old-{old}") as database:
        [new] = [part for part in WORKLOADS if part != old]
        assert skew.images(new) == {VERSION}
        database.write()
        with NetworkCut(driver, database.node) as cut:
            cut.ends_writing(database.ledger)
            until(lambda: cut.runs_elsewhere(database.ledger), "it runs elsewhere", 180, interval=0.2)
            assert database.ledger.missing() == 0
            cut.heal()
        until(lambda: TAINT not in taints(driver.cluster.get("node", database.node)),
              "it was started anew, and the driver takes the taint away", 120, interval=0.5)


@pytest.mark.parametrize("old", WORKLOADS)
def test_a_volume_that_is_in_use_goes_on(driver, skew, old):
    """While one part is exchanged below it, there and back."""
    with Database(driver, f"through-{old}") as database:
        database.write()
        known = database.ledger.client.acknowledged
        with skew.before(old):
            until(lambda: database.ledger.client.acknowledged > known, "it goes on", 60)
            known = database.ledger.client.acknowledged
        until(lambda: database.ledger.client.acknowledged > known, "it goes on", 60)
        database.ledger.stop_writing()
        assert database.ledger.missing() == 0 and database.ledger.node() == database.node
