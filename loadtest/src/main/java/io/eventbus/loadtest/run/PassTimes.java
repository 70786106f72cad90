package io.eventbus.loadtest.run;

/**
 * Times that a given number of events took, as the paper tells them.
 *
 * @param publisherMillis from the first event until the publisher had sent the last
 * @param busMillis from the bus's receipt of the first until that of the last, -1 where the system
 *     does not tell it
 * @param subscriberMillis from the first event until the last had arrived
 */
public record PassTimes(double publisherMillis, double busMillis, double subscriberMillis) {}
