package io.eventbus.loadtest.attack;

/**
 * Something that an attack expected of the bus.
 *
 * @param what in a few words
 * @param held whether it was so
 * @param found what was seen
 */
public record Check(String what, boolean held, String found) {}
