/**
 * Membership of a bus: {@link io.eventbus.registry.membership.LeaseKeeper} registers it and renews
 * its lease, whatever registry there is. {@link io.eventbus.registry.membership.VoterPolicy} is the
 * rule by which the leader chooses the voters, and is pure.
 */
package io.eventbus.registry.membership;
