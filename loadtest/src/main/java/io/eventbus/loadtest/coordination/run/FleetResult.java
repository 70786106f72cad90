package io.eventbus.loadtest.coordination.run;

/**
 * What can be said of one system's servers after an experiment.
 *
 * @param idleCpuPercent CPU time of one server while nobody asked for anything, in percent of a
 *     core; -1 if unknown
 */
public record FleetResult(
    String experiment,
    String system,
    int servers,
    CoordinationIntegrity integrity,
    double idleCpuPercent) {}
