package io.eventbus.loadtest.attack;

/** Something that an attack expected of the bus. */
public record Check(String what, boolean held, String found) {}
