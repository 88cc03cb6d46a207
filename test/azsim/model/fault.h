/* fault.h - what goes wrong in Azure, when it is asked to: rules, and which of them strikes.
 *
 * A rule is a fault of the table below, what it is to strike and how often. At each place where
 * something can go wrong, whoever does it asks whether a rule strikes now, and carries it out.
 * Rules are tried in the order in which they came; the first that strikes is the only one. They
 * last until they are removed, or the program ends. Time is the caller's.
 *
 * In JSON, "fault" and what the fault needs, and any of the others:
 *
 *     "fault": "refuse"             a name of the table
 *     "kind": "disks.*"             of the request, as the journal has it, or of the operation, as
 *                                   operation.h has it; with * and ?, whatever the case
 *     "resource": "pvc-*"           name of the disk or VM that it is about; the same
 *     "disk": "pvc-1"               that is attached or detached, or that the request's body names
 *     "zone": "1"                   of what the operation is about
 *     "operationStatus": "Failed"   of the operation that is polled
 *     "calls": "3", "2-5", "4-"     only these of all that match; the first is 1
 *     "probability": 0.1            of those, by a random sequence that begins with "seed": 7
 *     "for": "10s"                  from its first strike on
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/cleanup.h"
#include "lib/base/err.h"

/*   fault             name                     where    needs  what happens */
#define FAULTS(ROW)                                                                                \
    ROW(HANG_UP, "hangUp", REQUEST, NOTHING,                                                       \
        "nothing is done, and the connection is closed without an answer")                         \
    ROW(REFUSE, "refuse", REQUEST, CODE, "nothing is done, and the answer is the error \"code\"")  \
    ROW(THROTTLE, "throttle", REQUEST, NOTHING, "429, as of an empty bucket")                      \
    ROW(GATEWAY_ERROR, "gatewayError", REQUEST, NOTHING,                                           \
        "nothing is done, and a gateway answers with an HTML page; \"status\" is 502 to 504")      \
    ROW(REDIRECT, "redirect", REQUEST, NOTHING, "307 to the same place, or to another \"host\"")   \
    ROW(EXPIRE_TOKEN, "expireToken", REQUEST, NOTHING, "401: the token has expired")               \
    ROW(CHALLENGE, "challenge", REQUEST, NOTHING, "401: the token lacks claims")                   \
    ROW(LOSE_ANSWER, "loseAnswer", ANSWER, NOTHING,                                                \
        "it is done, and the connection is closed without an answer")                              \
    ROW(GATEWAY_TIMEOUT, "gatewayTimeout", ANSWER, NOTHING,                                        \
        "it is done, and a gateway answers with an HTML page; \"status\" is 502 to 504")           \
    ROW(CUT_ANSWER, "cutAnswer", ANSWER, NOTHING, "the connection breaks in the answer's middle")  \
    ROW(TRUNCATE, "truncate", ANSWER, NOTHING, "half of the answer's body is all of it")           \
    ROW(DRIP, "drip", ANSWER, TIME, "the answer's body comes in pieces over \"time\"")             \
    ROW(CHUNK, "chunk", ANSWER, NOTHING, "the answer's body comes without saying how long it is")  \
    ROW(CLOSE_CONNECTION, "closeConnection", ANSWER, NOTHING, "the connection ends with it")       \
    ROW(WRONG_TYPE, "wrongType", ANSWER, NOTHING, "the answer says that it is HTML")               \
    ROW(STALL, "stall", ANSWER, TIME, "the answer comes \"time\" later")                           \
    ROW(RETRY_AFTER, "retryAfter", ANSWER, NOTHING,                                                \
        "the answer's Retry-After is \"retryAfter\", or there is none")                            \
    ROW(NO_OPERATION, "noOperation", ANSWER, NOTHING, "the answer does not say where to poll")     \
    ROW(GARBLE_OPERATION, "garbleOperation", ANSWER, NOTHING,                                      \
        "where the answer says to poll is no URL")                                                 \
    ROW(EMPTY_PAGE, "emptyPage", ANSWER, NOTHING,                                                  \
        "a list's page is empty, and the next one is what it would have been")                     \
    ROW(DELAY, "delay", START, TIME, "the operation takes \"time\" more")                          \
    ROW(STICK, "stick", START, NOTHING,                                                            \
        "the operation does not end before the rule is removed, or a newer one ends it. Not one "  \
        "that detaches by force")                                                                  \
    ROW(FAIL_OPERATION, "failOperation", END, CODE, "nothing is done, and it fails with \"code\"") \
    ROW(FAIL_WHEN_DONE, "failWhenDone", END, CODE,                                                 \
        "it is done, and fails with \"code\" all the same, as for an extension of the VM")         \
    ROW(CANCEL_OPERATION, "cancelOperation", END, NOTHING,                                         \
        "nothing is done, and it is Canceled with no code")                                        \
    ROW(END_FAILED, "endFailed", END, NOTHING,                                                     \
        "it is done and Succeeded, and the disk or VM is left as Failed")                          \
    ROW(STAY_UPDATING, "stayUpdating", END, TIME,                                                  \
        "it is done and Succeeded, and the disk or VM is Updating for \"time\" more")              \
    ROW(HIDE_RESIZE, "hideResize", END, NOTHING,                                                   \
        "a disk has grown, and the VM does not see it before the disk is changed again")           \
    ROW(FAIL_ATTACH, "failAttach", ATTACH, CODE,                                                   \
        "the disk stays in the VM's model and is not attached; the operation fails")               \
    ROW(FORGET_ATTACH, "forgetAttach", ATTACH, NOTHING,                                            \
        "the disk is neither attached nor in the VM's model any more; the operation succeeds")     \
    ROW(FAIL_DETACH, "failDetach", DETACH, CODE,                                                   \
        "the disk stays attached and to be detached; the operation fails. Not by force")           \
    ROW(IGNORE_DETACH, "ignoreDetach", DETACH, NOTHING,                                            \
        "the disk stays attached and to be detached; the operation succeeds. Not by force")

enum fault_type {
#define FAULT_ENUM(fault, name, place, needs, what) FAULT_##fault,
    FAULTS(FAULT_ENUM)
#undef FAULT_ENUM
        FAULT_COUNT
};

/* Where something can go wrong. */
enum fault_place {
    FAULT_AT_REQUEST, /* before a request is handled */
    FAULT_AT_ANSWER,  /* when its answer is ready */
    FAULT_AT_START,   /* of an operation */
    FAULT_AT_END,     /* of an operation, instead of what it does */
    FAULT_AT_ATTACH,  /* at the end of a VM's operation, for each disk */
    FAULT_AT_DETACH,
};

struct fault {
    unsigned id;
    enum fault_type type;
    json_t *json; /* as it was given */
    /* what it strikes; NULL: whatever */
    const char *kind, *resource, *disk, *zone, *operation_status;
    uint64_t first, last; /* of the calls that match */
    double probability;
    struct random *random;
    uint64_t for_ms; /* 0: for ever */
    /* what it does; NULL, 0: not said */
    const char *code, *message, *host, *by;
    int status, retry_after_s; /* retry_after_s -1: none */
    bool as_date, wrapped, wrapped_said;
    uint64_t time_ms;
    /* what it has done */
    uint64_t matched, struck, first_strike_ms;
};

/* What something is about; members that do not apply are NULL. */
struct fault_subject {
    const char *kind, *resource, *disk, *zone, *operation_status;
    const char *body; /* of a request, where disks may be named */
};

enum { FAULTS_MOST = 1000 };

struct faults;

struct faults *faults_new(void);
void faults_free(struct faults *faults);
DEFINE_CLEANUP(struct faults, faults_free)

/* INVALID says which member is wrong, and what is allowed. */
struct err *faults_add(struct faults *faults, const json_t *rule, const struct fault **ret)
    __attribute__((warn_unused_result));
/* A list of rules, or a document {"faults": [...]}; none is added if any is wrong. */
struct err *faults_add_all(struct faults *faults, const json_t *rules)
    __attribute__((warn_unused_result));
bool faults_remove(struct faults *faults, unsigned id); /* false if there is none of that id */
void faults_clear(struct faults *faults);

/* The rule that strikes here and now, which counts as done; NULL: none. It lasts until it is
 * removed. */
const struct fault *faults_strike(struct faults *faults, enum fault_place place,
                                  const struct fault_subject *subject, uint64_t now_ms);

const char *fault_type_name(enum fault_type type); /* "hangUp" */
/* The rule with its "id", how often it "matched" and how often it "struck". */
json_t *fault_json(const struct fault *fault);
json_t *faults_json(const struct faults *faults); /* {"faults": [...]} */
