package io.eventbus.loadtest;

import io.eventbus.loadtest.workload.Workload;

/**
 * One run that is to be made.
 *
 * @param from the word that the workload was selected with
 * @param workload what to do, with the options applied
 * @param driver the name of the system
 * @param version what was found of it
 * @param run from 1
 */
record PlannedRun(String from, Workload workload, String driver, String version, int run) {}
