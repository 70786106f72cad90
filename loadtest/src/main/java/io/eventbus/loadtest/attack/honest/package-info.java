/**
 * The well-behaved clients beside an attack: pairs of a publisher and a subscriber that say what
 * they lost and how long events took.
 */
package io.eventbus.loadtest.attack.honest;
