/* moving_pod.h - a cluster with pod db on node a, and what there is of its volume v on other nodes,
 * as text for cluster_of.h.
 */
#pragma once

#include "test/unit/azdiskctl/cluster_of.h"

#define OWNED(kind)                                                                                \
    ",'ownerReferences':[{'kind':'Other','name':'o','uid':'1'},{'apiVersion':'apps/"               \
    "v1','kind':'" kind "','name':'owner','uid':'o','controller':true}]"
#define CLAIMED(claim) "{'name':'data','persistentVolumeClaim':{'claimName':'" claim "'}}"
/* `metadata` and `spec` are more of it. */
#define POD_ON(name, node, metadata, claims, spec)                                                 \
    "{'metadata':{'name':'" name "','namespace':'default','uid':'u-" name "'" metadata             \
    "},'spec':{'nodeName':'" node "','volumes':[" claims "]" spec                                  \
    "},'status':{'phase':'Running'}}"
#define DB POD_ON("db", "a", OWNED("StatefulSet"), CLAIMED("claim"), "")
#define BOUND_CLAIM(more)                                                                          \
    "{'metadata':{'name':'claim','namespace':'default'" more "},'spec':{'volumeName':'pv'}}"
/* `spec` is the whole of it, or empty. */
#define FIT_NODE(name, zone, spec)                                                                 \
    "{'metadata':{'name':'" name "','labels':{'topology.disk.csi.azure.com/zone':'" zone           \
    "'}}," spec "'status':{'conditions':[{'type':'Ready','status':'True'}]}}"
#define FIT(name) FIT_NODE(name, "eastus-1", "")
#define MOVING(pods, claim, nodes, attachments)                                                    \
    "{'pods':[" pods "],'claims':[" claim "],'pvs':[" PV("pv", "v") "],'volumes':[" VOLUME(        \
        "v", "1") "],'nodes':[" nodes                                                              \
                  "],'driverNodes':[" PLUGIN("a", "true", NOW) "," PLUGIN(                         \
                      "b", "true", NOW) "," PLUGIN("c", "true",                                    \
                                                   NOW) "],'attachments':[" attachments "]}"
#define PRIMARY_ON_A ATTACHED("v", "a", "Primary", "0")
#define REPLICA_ON(node) ATTACHED("v", node, "Replica", "1")
#define UNREADY_ON(node)                                                                           \
    ATTACHMENT("v", node, "Replica", "Replica", "Attached", "1",                                   \
               ",'annotation':{'disk.csi.azure.com/replica-ready':'false " NOW " no disk'}")
