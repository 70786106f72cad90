package io.eventbus.loadtest;

import io.eventbus.loadtest.workload.Workload;

/** Run that is to be made. */
record PlannedRun(String from, Workload workload, String driver, String version, int run) {}
