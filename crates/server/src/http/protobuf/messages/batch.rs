//! Messages of the group `batch`.

use super::core::OBJECT_REFERENCE;
use super::meta::{LABEL_SELECTOR, OBJECT_META};
use super::pod::POD_TEMPLATE_SPEC;
use crate::http::protobuf::decode::{Field, Is, Message};

super::messages! {
    JOB { 1 "metadata" Part(OBJECT_META), 2 "spec" Part(JOB_SPEC), 3 "status" Part(JOB_STATUS) }
    JOB_SPEC {
        1 "parallelism" NumberKept, 2 "completions" NumberKept, 3 "activeDeadlineSeconds" NumberKept,
        4 "selector" PartKept(LABEL_SELECTOR), 5 "manualSelector" BoolKept,
        6 "template" Part(POD_TEMPLATE_SPEC), 7 "backoffLimit" NumberKept,
        8 "ttlSecondsAfterFinished" NumberKept, 9 "completionMode" TextKept, 10 "suspend" BoolKept,
        11 "podFailurePolicy" PartKept(POD_FAILURE_POLICY), 12 "backoffLimitPerIndex" NumberKept,
        13 "maxFailedIndexes" NumberKept, 14 "podReplacementPolicy" TextKept, 15 "managedBy" TextKept,
        16 "successPolicy" PartKept(SUCCESS_POLICY),
    }
    POD_FAILURE_POLICY { 1 "rules" Parts(POD_FAILURE_POLICY_RULE) }
    POD_FAILURE_POLICY_RULE {
        1 "action" TextKept, 2 "onExitCodes" PartKept(POD_FAILURE_POLICY_ON_EXIT_CODES_REQUIREMENT),
        3 "onPodConditions" Parts(POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN),
    }
    POD_FAILURE_POLICY_ON_EXIT_CODES_REQUIREMENT {
        1 "containerName" TextKept, 2 "operator" TextKept, 3 "values" Numbers,
    }
    POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN { 1 "type" TextKept, 2 "status" TextKept }
    SUCCESS_POLICY { 1 "rules" Parts(SUCCESS_POLICY_RULE) }
    SUCCESS_POLICY_RULE { 1 "succeededIndexes" TextKept, 2 "succeededCount" NumberKept }
    JOB_STATUS {
        1 "conditions" Parts(JOB_CONDITION), 2 "startTime" Time, 3 "completionTime" Time, 4 "active" Number,
        5 "succeeded" Number, 6 "failed" Number, 7 "completedIndexes" Text,
        8 "uncountedTerminatedPods" PartKept(UNCOUNTED_TERMINATED_PODS), 9 "ready" NumberKept,
        10 "failedIndexes" TextKept, 11 "terminating" NumberKept,
    }
    JOB_CONDITION {
        1 "type" TextKept, 2 "status" TextKept, 3 "lastProbeTime" Time, 4 "lastTransitionTime" Time,
        5 "reason" Text, 6 "message" Text,
    }
    UNCOUNTED_TERMINATED_PODS { 1 "succeeded" Texts, 2 "failed" Texts }
    CRON_JOB {
        1 "metadata" Part(OBJECT_META), 2 "spec" Part(CRON_JOB_SPEC), 3 "status" Part(CRON_JOB_STATUS),
    }
    CRON_JOB_SPEC {
        1 "schedule" TextKept, 2 "startingDeadlineSeconds" NumberKept, 3 "concurrencyPolicy" Text,
        4 "suspend" BoolKept, 5 "jobTemplate" Part(JOB_TEMPLATE_SPEC),
        6 "successfulJobsHistoryLimit" NumberKept, 7 "failedJobsHistoryLimit" NumberKept,
        8 "timeZone" TextKept,
    }
    JOB_TEMPLATE_SPEC { 1 "metadata" Part(OBJECT_META), 2 "spec" Part(JOB_SPEC) }
    CRON_JOB_STATUS {
        1 "active" Parts(OBJECT_REFERENCE), 4 "lastScheduleTime" Time, 5 "lastSuccessfulTime" Time,
    }
}
