package io.eventbus.loadtest;

import io.eventbus.loadtest.workload.Workload;

/** One run that is to be made. */
record PlannedRun(String from, Workload workload, String driver, String version, int run) {}
