package io.eventbus.loadtest.attack;

/**
 * The targets that differ from attack to attack.
 *
 * @param maxMillis the longest that an event of an honest pair may take
 * @param logLinesPerSecond what the bus may write to its log in a second of the attack
 * @param p99Factor how many times as long 99 % of the honest events may take as in the quiet phase;
 *     0 for any
 */
public record AttackTargets(int maxMillis, int logLinesPerSecond, boolean log, double p99Factor) {}
