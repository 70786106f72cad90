package io.eventbus.loadtest.coordination.run;

/**
 * What can be said of one system's servers after an experiment.
 *
 * @param experiment its name
 * @param system its name
 * @param servers how many
 * @param integrity of all writes since the start
 * @param idleCpuPercent CPU time of one server while nobody asked for anything, in percent of a
 *     core; -1 if unknown
 */
public record FleetResult(
    String experiment,
    String system,
    int servers,
    CoordinationIntegrity integrity,
    double idleCpuPercent) {}
